#include "communicators/gloo/scene.hpp"
#include "communicators/gloo/tags.hpp"
#include "communicators/mean.hpp"
#include "devices/cpu/fold.hpp"

#include <algorithm>

namespace muster::gloo {
namespace {

using Kind = Operation::Kind;

/// Of a message; large enough that messages are cheap, small enough that folding one overlaps with
/// the arrival of the next.
constexpr std::int64_t reduced_at_once = 512 << 10;
/// Chunks of each peer that may be on their way at once.
constexpr std::int64_t window = 4;
/// The letters that a rank sends for one all_reduce carry so much data together, at most: each has
/// all of it, where slices would take two messages with a share of it.
constexpr std::size_t letters_bytes = 128 << 10;

class Reduction {
 public:
  Reduction(const Scene& scene, const Operation& operation)
      : scene_(scene),
        operation_(operation),
        input_(static_cast<const char*>(operation.input.const_data_ptr())),
        output_(static_cast<char*>(operation.output.data_ptr())),
        input_element_(static_cast<std::int64_t>(operation.input.element_size())),
        output_element_(static_cast<std::int64_t>(operation.output.element_size())),
        gathers_(operation.kind == Kind::all_reduce),
        chunk_(reduced_at_once / std::max(input_element_, output_element_)),
        slices_(cut()),
        // A peer that asks for something else receives under another tag, or not at all: what it
        // would get never moves, and its letter tells both.
        tag_(tag::reduce.of(fingerprint(describe(operation)))) {}

  void run() {
    if (fits_letters()) {
      by_letters();
    } else {
      by_slices();
    }
  }

 private:
  /// all_reduce: the slice that each rank folds, cut on cache lines.
  std::vector<Slice> cut() const {
    const auto numel = operation_.input.numel();
    if (!gathers_) {
      return slices(numel, operation_.input_counts, scene_.size);
    }
    constexpr std::int64_t line = 64;
    const auto share = ((numel + scene_.size - 1) / scene_.size + line - 1) / line * line;
    std::vector<Slice> result;
    for (std::int64_t i = 0; i < scene_.size; ++i) {
      const auto begin = std::min(i * share, numel);
      result.push_back({begin, std::min(share, numel - begin)});
    }
    return result;
  }

  const Slice& slice(int rank) const { return slices_[static_cast<std::size_t>(rank)]; }
  const Slice& own() const { return slice(scene_.rank); }

  /// What of the input goes to `peer` if letters carry it.
  Slice letter_part(int peer) const {
    return gathers_ ? Slice{0, operation_.input.numel()} : slice(peer);
  }

  bool fits_letters() const {
    const auto peers = static_cast<std::size_t>(scene_.size - 1);
    const auto limit = std::min(scene_.letters.capacity(), letters_bytes / peers);
    for (int peer = 0; peer < scene_.size; ++peer) {
      if (static_cast<std::size_t>(letter_part(peer).count * input_element_) > limit) {
        return false;
      }
    }
    return true;
  }

  void write_letters(bool with_data) const {
    for (int peer = 0; peer < scene_.size; ++peer) {
      const auto part = letter_part(peer);
      auto& letter = scene_.letters.outgoing(peer);
      letter.for_you = 0;
      letter.inline_bytes = with_data && peer != scene_.rank
                                ? static_cast<std::size_t>(part.count * input_element_)
                                : 0;
      std::copy_n(input_ + part.begin * input_element_, letter.inline_bytes,
                  scene_.letters.outgoing_data(peer));
    }
  }

  void meet_all() {
    meet(scene_, operation_, std::vector<std::int64_t>(static_cast<std::size_t>(scene_.size), 0));
    double total = 0;
    for (int rank = 0; rank < scene_.size; ++rank) {
      total += rank == scene_.rank ? operation_.count : scene_.letters.incoming(rank).count;
    }
    factor_ = mean_factor(total);
  }

  /// Folds `sources` into elements of the result, which begin with element `begin` of the whole.
  void fold(char* output, const std::vector<const char*>& sources, Slice part) const {
    const auto divided = std::clamp<std::int64_t>(operation_.divided - part.begin, 0, part.count);
    fold_all(output, sources, {0, divided}, factor_);
    fold_all(output, sources, {divided, part.count - divided}, 1);
  }

  void fold_all(char* output, const std::vector<const char*>& sources, Slice part,
                double factor) const {
    std::vector<const void*> begins;
    for (const auto* source : sources) {
      begins.push_back(source + part.begin * input_element_);
    }
    cpu::fold(output + part.begin * output_element_, begins, part.count,
              {operation_.output.scalar_type(), operation_.input.scalar_type(), operation_.op,
               operation_.accumulate, factor});
  }

  void by_letters() {
    write_letters(true);
    announce(scene_, operation_);
    meet_all();
    std::vector<const char*> sources;
    for (int rank = 0; rank < scene_.size; ++rank) {
      sources.push_back(rank == scene_.rank ? input_ + letter_part(rank).begin * input_element_
                                            : scene_.letters.incoming_data(rank));
    }
    // Our letters hold copies, so the input may change before they are out.
    fold(output_, sources, letter_part(scene_.rank));
    scene_.letters.finish();
  }

  std::int64_t chunks(int rank) const { return (slice(rank).count + chunk_ - 1) / chunk_; }

  /// Chunk `index` of the slice of `rank`, in elements of the whole tensor.
  Slice chunk(int rank, std::int64_t index) const {
    const auto begin = index * chunk_;
    return {slice(rank).begin + begin, std::min(chunk_, slice(rank).count - begin)};
  }

  void by_slices() {
    write_letters(false);
    scene_.scratch.grow(static_cast<std::size_t>(window * scene_.size * chunk_ * input_element_));
    tickets_.resize(static_cast<std::size_t>(window * scene_.size));
    for (std::int64_t index = 0; index < std::min(window, chunks(scene_.rank)); ++index) {
      receive_chunk(index);
    }
    if (gathers_) {
      receive_results();
    }
    announce(scene_, operation_);
    send_slices();
    meet_all();
    scene_.letters.prepare();
    for (std::int64_t index = 0; index < chunks(scene_.rank); ++index) {
      fold_chunk(index);
    }
    scene_.letters.finish();
    scene_.traffic.settle();
  }

  std::size_t place(std::int64_t index, int rank) const {
    return static_cast<std::size_t>((index % window) * scene_.size + rank);
  }

  char* place_data(std::int64_t index, int rank) const {
    return scene_.scratch.data() +
           place(index, rank) * static_cast<std::size_t>(chunk_ * input_element_);
  }

  void receive_chunk(std::int64_t index) {
    const auto bytes = static_cast<std::size_t>(chunk(scene_.rank, index).count * input_element_);
    for (int peer = 0; peer < scene_.size; ++peer) {
      if (peer != scene_.rank) {
        tickets_[place(index, peer)] =
            scene_.traffic.receive_one(peer, tag_, place_data(index, peer), bytes);
      }
    }
  }

  /// In place, results land where this rank's own part for that slice was sent from: its owner has
  /// read it by then.
  void receive_results() const {
    for (int peer = 0; peer < scene_.size; ++peer) {
      for (std::int64_t index = 0; peer != scene_.rank && index < chunks(peer); ++index) {
        const auto part = chunk(peer, index);
        scene_.traffic.receive(peer, tag::gather, output_ + part.begin * output_element_,
                               static_cast<std::size_t>(part.count * output_element_));
      }
    }
  }

  void send_slices() const {
    std::int64_t most = 0;
    for (int peer = 0; peer < scene_.size; ++peer) {
      most = std::max(most, chunks(peer));
    }
    for (std::int64_t index = 0; index < most; ++index) {
      for (int step = 1; step < scene_.size; ++step) {
        const int peer = (scene_.rank + step) % scene_.size;
        if (index < chunks(peer)) {
          const auto part = chunk(peer, index);
          scene_.traffic.send(peer, tag_, input_ + part.begin * input_element_,
                              static_cast<std::size_t>(part.count * input_element_));
        }
      }
    }
  }

  void fold_chunk(std::int64_t index) {
    const auto part = chunk(scene_.rank, index);
    std::vector<const char*> sources;
    for (int rank = 0; rank < scene_.size; ++rank) {
      if (rank == scene_.rank) {
        sources.push_back(input_ + part.begin * input_element_);
      } else {
        scene_.traffic.await(tickets_[place(index, rank)]);
        sources.push_back(place_data(index, rank));
      }
    }
    const auto begin = gathers_ ? part.begin : part.begin - own().begin;
    char* const result = output_ + begin * output_element_;
    fold(result, sources, part);
    if (index + window < chunks(scene_.rank)) {
      receive_chunk(index + window);
    }
    for (int step = 1; gathers_ && step < scene_.size; ++step) {
      scene_.traffic.send((scene_.rank + step) % scene_.size, tag::gather, result,
                          static_cast<std::size_t>(part.count * output_element_));
    }
  }

  const Scene& scene_;
  const Operation& operation_;
  const char* input_;
  char* output_;
  std::int64_t input_element_;
  std::int64_t output_element_;
  bool gathers_;
  std::int64_t chunk_;  ///< Elements.
  std::vector<Slice> slices_;
  int tag_;            ///< Of the slices.
  double factor_ = 1;  ///< For the elements that are divided.
  std::vector<Ticket> tickets_;
};

}  // namespace

void reduce(const Scene& scene, const Operation& operation) { Reduction(scene, operation).run(); }

}  // namespace muster::gloo
