#include "communicators/shm/scene.hpp"

#include <algorithm>
#include <cstring>
#include <span>

namespace muster::shm {
namespace {

using Kind = Operation::Kind;
using Bytes = std::span<char>;

/// What goes from rank to rank.
struct Parts {
  std::vector<Bytes> out, in;                ///< To each rank, and from each.
  std::vector<std::int64_t> sent, expected;  ///< Elements.
  bool same_for_all = true;                  ///< What goes out: it is put in once.
};

class Flat {
 public:
  explicit Flat(const at::Tensor& tensor)
      : data_(static_cast<char*>(tensor.data_ptr())),
        element_(static_cast<std::size_t>(tensor.element_size())) {}
  Bytes part(Slice slice) const {
    return {data_ + static_cast<std::size_t>(slice.begin) * element_,
            static_cast<std::size_t>(slice.count) * element_};
  }

 private:
  char* data_;
  std::size_t element_;
};

void fill_in(Parts& parts, const Operation& operation, int size) {
  const Flat output(operation.output);
  const auto all = slices(operation.output.numel(), operation.output_counts, size);
  for (std::size_t i = 0; i < all.size(); ++i) {
    parts.in[i] = output.part(all[i]);
    parts.expected[i] = all[i].count;
  }
}

Parts parts_of(const Scene& scene, const Operation& operation) {
  const auto size = static_cast<std::size_t>(scene.size());
  Parts parts{std::vector<Bytes>(size), std::vector<Bytes>(size), std::vector<std::int64_t>(size),
              std::vector<std::int64_t>(size)};
  if (operation.kind == Kind::broadcast) {
    const auto whole = Flat(operation.output).part({0, operation.output.numel()});
    if (operation.peer == scene.rank()) {
      std::ranges::fill(parts.out, whole);
    } else {
      parts.in[static_cast<std::size_t>(operation.peer)] = whole;
    }
  } else if (operation.kind == Kind::all_gather) {
    const auto numel = operation.input.numel();
    std::ranges::fill(parts.out, Flat(operation.input).part({0, numel}));
    std::ranges::fill(parts.sent, numel);
    fill_in(parts, operation, scene.size());
  } else if (operation.kind == Kind::all_to_all) {
    const auto sent = slices(operation.input.numel(), operation.input_counts, scene.size());
    for (std::size_t i = 0; i < size; ++i) {
      parts.out[i] = Flat(operation.input).part(sent[i]);
      parts.sent[i] = sent[i].count;
    }
    fill_in(parts, operation, scene.size());
    parts.same_for_all = false;
  }
  return parts;
}

class Move {
 public:
  Move(const Scene& scene, const Operation& operation)
      : scene_(scene),
        operation_(operation),
        parts_(parts_of(scene, operation)),
        room_(parts_.same_for_all ? slot_bytes
                                  : slot_bytes / static_cast<std::size_t>(scene.size()) / 64 * 64) {
  }

  void run() {
    keep_own();
    std::size_t bytes = 1;
    for (std::size_t at = 0; at < bytes; at += room_) {
      put_in(at);
      if (at == 0) announce(scene_, operation_, parts_.sent);
      scene_.rounds.put();
      scene_.rounds.await_put();
      if (at == 0) {
        meet(scene_, operation_, parts_.expected);
        bytes = longest();
      }
      take_out(at);
      scene_.rounds.end();
    }
  }

 private:
  static Bytes piece(Bytes whole, std::size_t at, std::size_t room) {
    return at < whole.size() ? whole.subspan(at, std::min(room, whole.size() - at)) : Bytes{};
  }

  void keep_own() const {
    const Bytes out = parts_.out[static_cast<std::size_t>(scene_.rank())];
    const Bytes in = parts_.in[static_cast<std::size_t>(scene_.rank())];
    if (!in.empty() && in.data() != out.data()) {
      std::memmove(in.data(), out.data(), std::min(in.size(), out.size()));
    }
  }

  std::size_t place(int rank) const {
    return parts_.same_for_all ? 0 : static_cast<std::size_t>(rank) * room_;
  }

  void put_in(std::size_t at) const {
    for (int step = 1; step < scene_.size(); ++step) {
      const int peer = (scene_.rank() + step) % scene_.size();
      const Bytes out = piece(parts_.out[static_cast<std::size_t>(peer)], at, room_);
      std::byte* slot = scene_.rounds.input(scene_.rank()) + place(peer);
      if (!out.empty()) std::memcpy(slot, out.data(), out.size());
      if (parts_.same_for_all) return;
    }
  }

  void take_out(std::size_t at) const {
    for (int step = 1; step < scene_.size(); ++step) {
      const int peer = (scene_.rank() + step) % scene_.size();
      const Bytes in = piece(parts_.in[static_cast<std::size_t>(peer)], at, room_);
      const std::byte* slot = scene_.rounds.input(peer) + place(scene_.rank());
      if (!in.empty()) std::memcpy(in.data(), slot, in.size());
    }
  }

  /// Of what any rank sends another: all go through as many rounds.
  std::size_t longest() const {
    std::size_t most = 1;
    for (const Bytes& in : parts_.in) most = std::max(most, in.size());
    for (const Bytes& out : parts_.out) most = std::max(most, out.size());
    if (parts_.same_for_all) return most;
    const auto element = static_cast<std::size_t>(operation_.input.element_size());
    for (int from = 0; from < scene_.size(); ++from) {
      const auto& row = scene_.board.state(from).sent[scene_.ordinal % 2];
      for (int to = 0; to < scene_.size(); ++to) {
        most =
            std::max(most, static_cast<std::size_t>(row[static_cast<std::size_t>(to)]) * element);
      }
    }
    return most;
  }

  const Scene& scene_;
  const Operation& operation_;
  Parts parts_;
  std::size_t room_;
};

}  // namespace

void move(const Scene& scene, const Operation& operation) { Move(scene, operation).run(); }

}  // namespace muster::shm
