#include "communicators/gloo/scene.hpp"
#include "communicators/gloo/tags.hpp"

#include <algorithm>

namespace muster::gloo {
namespace {

/// Of a message; a rank passes one on while the next arrives.
constexpr std::size_t relayed_at_once = 512 << 10;
/// From here on a slice for each is worth its messages.
constexpr std::size_t least_bytes = 256 << 10;

/// Bytes of the tensor.
struct Span {
  std::size_t begin;
  std::size_t bytes;
};

class Relay {
 public:
  Relay(const Scene& scene, const Operation& operation)
      : scene_(scene),
        operation_(operation),
        data_(static_cast<char*>(operation.output.data_ptr())),
        bytes_(operation.output.nbytes()) {
    for (int rank = 0; rank < scene.size; ++rank) {
      if (rank != operation.peer) {
        others_.push_back(rank);
      }
    }
    const auto share = bytes_ / others_.size() + 1;
    constexpr std::size_t line = 64;
    share_ = (share + line - 1) / line * line;
  }

  void run() {
    write_letters();
    if (!is_root()) {
      receive();
    }
    announce(scene_, operation_);
    meet(scene_, operation_, std::vector<std::int64_t>(static_cast<std::size_t>(scene_.size), 0));
    scene_.letters.prepare();
    if (is_root()) {
      send();
    } else {
      pass_on();
    }
    scene_.letters.finish();
    scene_.traffic.settle();
  }

 private:
  bool is_root() const { return operation_.peer == scene_.rank; }

  void write_letters() const {
    for (int peer = 0; peer < scene_.size; ++peer) {
      scene_.letters.outgoing(peer).for_you = 0;
      scene_.letters.outgoing(peer).inline_bytes = 0;
    }
  }

  /// The messages that bring the slice of the `index`-th of the others.
  std::vector<Span> chunks(std::size_t index) const {
    std::vector<Span> result;
    const auto end = std::min((index + 1) * share_, bytes_);
    for (auto begin = index * share_; begin < end; begin += relayed_at_once) {
      result.push_back({begin, std::min(relayed_at_once, end - begin)});
    }
    return result;
  }

  void receive() {
    for (std::size_t i = 0; i < others_.size(); ++i) {
      const bool own = others_[i] == scene_.rank;
      for (const auto& chunk : chunks(i)) {
        auto ticket = scene_.traffic.receive_one(own ? operation_.peer : others_[i], tag::part,
                                                 data_ + chunk.begin, chunk.bytes);
        (own ? mine_ : rest_).push_back(std::move(ticket));
      }
    }
  }

  /// The first chunk of each slice, then the second of each, so that all have something to pass on.
  void send() const {
    for (std::size_t begin = 0; begin < share_; begin += relayed_at_once) {
      for (std::size_t i = 0; i < others_.size(); ++i) {
        const auto all = chunks(i);
        if (begin / relayed_at_once < all.size()) {
          send_to(others_[i], all[begin / relayed_at_once]);
        }
      }
    }
  }

  void pass_on() const {
    const auto here = std::find(others_.begin(), others_.end(), scene_.rank);
    const auto index = static_cast<std::size_t>(here - others_.begin());
    const auto all = chunks(index);
    for (std::size_t i = 0; i < all.size(); ++i) {
      scene_.traffic.await(mine_[i]);
      for (std::size_t step = 1; step < others_.size(); ++step) {
        send_to(others_[(index + step) % others_.size()], all[i]);
      }
    }
    for (const auto& ticket : rest_) {
      scene_.traffic.await(ticket);
    }
  }

  void send_to(int peer, const Span& chunk) const {
    scene_.traffic.send(peer, tag::part, data_ + chunk.begin, chunk.bytes);
  }

  const Scene& scene_;
  const Operation& operation_;
  char* data_;
  std::size_t bytes_;
  std::size_t share_ = 0;    ///< Bytes of a slice; the last one may be shorter, or empty.
  std::vector<int> others_;  ///< All but the root.
  std::vector<Ticket> mine_, rest_;
};

}  // namespace

bool relays(const Scene& scene, const Operation& operation) {
  return operation.kind == Operation::Kind::broadcast && scene.size > 2 &&
         operation.output.nbytes() >= least_bytes;
}

void relay(const Scene& scene, const Operation& operation) { Relay(scene, operation).run(); }

}  // namespace muster::gloo
