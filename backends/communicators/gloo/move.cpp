#include "communicators/gloo/scene.hpp"
#include "communicators/gloo/tags.hpp"

#include <cstring>
#include <span>

namespace muster::gloo {
namespace {

using Kind = Operation::Kind;

/// Per rank: what goes there, and what comes from there.
struct Parts {
  explicit Parts(int size)
      : out(static_cast<std::size_t>(size)),
        in(out.size()),
        sent(out.size(), 0),
        expected(out.size(), 0) {}
  std::vector<std::span<const char>> out;
  std::vector<std::span<char>> in;
  std::vector<std::int64_t> sent;      ///< Elements.
  std::vector<std::int64_t> expected;  ///< Elements.
};

class Flat {
 public:
  explicit Flat(const at::Tensor& tensor)
      : data_(static_cast<char*>(tensor.data_ptr())),
        element_(static_cast<std::size_t>(tensor.element_size())) {}
  std::span<char> part(Slice slice) const {
    return {data_ + static_cast<std::size_t>(slice.begin) * element_,
            static_cast<std::size_t>(slice.count) * element_};
  }

 private:
  char* data_;
  std::size_t element_;
};

void fill_in(Parts& parts, const Operation& operation, const std::vector<Slice>& slices) {
  const Flat output(operation.output);
  for (std::size_t i = 0; i < slices.size(); ++i) {
    parts.in[i] = output.part(slices[i]);
    parts.expected[i] = slices[i].count;
  }
}

Parts parts_of(const Scene& scene, const Operation& operation) {
  Parts parts(scene.size);
  if (operation.kind == Kind::broadcast) {
    const auto whole = Flat(operation.output).part({0, operation.output.numel()});
    if (operation.peer == scene.rank) {
      std::fill(parts.out.begin(), parts.out.end(), std::span<const char>(whole));
    } else {
      parts.in[static_cast<std::size_t>(operation.peer)] = whole;
    }
  } else if (operation.kind == Kind::all_gather) {
    const auto numel = operation.input.numel();
    std::fill(parts.out.begin(), parts.out.end(),
              std::span<const char>(Flat(operation.input).part({0, numel})));
    std::fill(parts.sent.begin(), parts.sent.end(), numel);
    fill_in(parts, operation,
            slices(operation.output.numel(), operation.output_counts, scene.size));
  } else if (operation.kind == Kind::all_to_all) {
    const auto sent = slices(operation.input.numel(), operation.input_counts, scene.size);
    for (std::size_t i = 0; i < sent.size(); ++i) {
      parts.out[i] = Flat(operation.input).part(sent[i]);
      parts.sent[i] = sent[i].count;
    }
    fill_in(parts, operation,
            slices(operation.output.numel(), operation.output_counts, scene.size));
  }
  return parts;
}

bool fits(const Scene& scene, std::size_t bytes) { return bytes <= scene.letters.capacity(); }

void write_letters(const Scene& scene, const Parts& parts) {
  for (int peer = 0; peer < scene.size; ++peer) {
    const auto out = parts.out[static_cast<std::size_t>(peer)];
    auto& letter = scene.letters.outgoing(peer);
    letter.for_you = parts.sent[static_cast<std::size_t>(peer)];
    letter.inline_bytes = peer != scene.rank && fits(scene, out.size()) ? out.size() : 0;
    std::copy_n(out.begin(), letter.inline_bytes, scene.letters.outgoing_data(peer));
  }
}

void keep_own(const Scene& scene, const Parts& parts) {
  const auto out = parts.out[static_cast<std::size_t>(scene.rank)];
  const auto in = parts.in[static_cast<std::size_t>(scene.rank)];
  if (!in.empty() && in.data() != out.data()) {
    std::memmove(in.data(), out.data(), in.size());
  }
}

void receive_large(const Scene& scene, const Parts& parts) {
  for (int peer = 0; peer < scene.size; ++peer) {
    const auto in = parts.in[static_cast<std::size_t>(peer)];
    if (peer != scene.rank && !fits(scene, in.size())) {
      scene.traffic.receive(peer, tag::part, in.data(), in.size());
    }
  }
}

}  // namespace

void move(const Scene& scene, const Operation& operation) {
  const auto parts = parts_of(scene, operation);
  // Only the receiver of an all_to_all can see that a count is wrong, and the sender sends: a
  // receive that is too short for that must never be posted.
  const bool sender_knows = operation.kind != Kind::all_to_all;
  write_letters(scene, parts);
  if (sender_knows) {
    receive_large(scene, parts);
  }
  announce(scene, operation);
  meet(scene, operation, parts.expected);
  if (!sender_knows) {
    receive_large(scene, parts);
  }
  for (int step = 1; step < scene.size; ++step) {
    const int peer = (scene.rank + step) % scene.size;
    const auto out = parts.out[static_cast<std::size_t>(peer)];
    if (!fits(scene, out.size())) {
      scene.traffic.send(peer, tag::part, out.data(), out.size());
    }
  }
  keep_own(scene, parts);
  for (int peer = 0; peer < scene.size; ++peer) {
    const auto in = parts.in[static_cast<std::size_t>(peer)];
    if (peer != scene.rank && fits(scene, in.size())) {
      std::copy_n(scene.letters.incoming_data(peer), in.size(), in.begin());
    }
  }
  scene.letters.prepare();
  scene.letters.finish();
  scene.traffic.settle();
}

}  // namespace muster::gloo
