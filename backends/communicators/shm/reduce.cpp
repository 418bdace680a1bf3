#include "communicators/mean.hpp"
#include "communicators/shm/scene.hpp"
#include "devices/cpu/fold.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

namespace muster::shm {
namespace {

using Kind = Operation::Kind;

/// Up to here every rank folds all of it by itself, which takes one meeting less.
constexpr std::int64_t small_bytes = 64 << 10;
/// Elements: parts begin on cache lines.
constexpr std::int64_t line = 64;

std::int64_t divided_up(std::int64_t amount, std::int64_t by) { return (amount + by - 1) / by; }

class Reduction {
 public:
  Reduction(const Scene& scene, const Operation& operation)
      : scene_(scene),
        operation_(operation),
        input_(static_cast<const char*>(operation.input.const_data_ptr())),
        output_(static_cast<char*>(operation.output.data_ptr())),
        input_element_(static_cast<std::int64_t>(operation.input.element_size())),
        output_element_(static_cast<std::int64_t>(operation.output.element_size())),
        numel_(operation.input.numel()) {}

  void run() {
    if (operation_.kind == Kind::reduce_scatter) {
      scatter();
    } else if (numel_ * input_element_ * (scene_.size() - 1) <= small_bytes) {
      small();
    } else {
      large();
    }
  }

 private:
  /// Puts in for a round, and meets the others in the first one.
  template <class Put>
  void open_round(const Put& put) {
    put();
    if (!met_) announce(scene_, operation_, {});
    scene_.rounds.put();
    scene_.rounds.await_put();
    if (met_) return;
    met_ = true;
    meet(scene_, operation_, std::vector<std::int64_t>(static_cast<std::size_t>(scene_.size())));
    double total = 0;
    for (int rank = 0; rank < scene_.size(); ++rank) {
      total += header_of(scene_.board, rank, scene_.ordinal).count;
    }
    factor_ = mean_factor(total);
  }

  void put_in(std::int64_t slot_element, Slice part) const {
    if (part.count == 0) return;
    std::memcpy(scene_.rounds.input(scene_.rank()) + slot_element * input_element_,
                input_ + part.begin * input_element_,
                static_cast<std::size_t>(part.count * input_element_));
  }

  /// Folds what the ranks have put in at `slot_element`, this rank's from its own tensor, into
  /// `output`. part: of the whole tensor.
  void fold(char* output, std::int64_t slot_element, Slice part) const {
    const auto divided = std::clamp<std::int64_t>(operation_.divided - part.begin, 0, part.count);
    fold_all(output, slot_element, {part.begin, divided}, factor_);
    fold_all(output + divided * output_element_, slot_element + divided,
             {part.begin + divided, part.count - divided}, 1);
  }
  void fold_all(char* output, std::int64_t slot_element, Slice part, double factor) const {
    std::vector<const void*> sources;
    for (int rank = 0; rank < scene_.size(); ++rank) {
      sources.push_back(rank == scene_.rank()
                            ? static_cast<const void*>(input_ + part.begin * input_element_)
                            : scene_.rounds.input(rank) + slot_element * input_element_);
    }
    cpu::fold(output, sources, part.count,
              {operation_.output.scalar_type(), operation_.input.scalar_type(), operation_.op,
               operation_.accumulate, factor});
  }

  void small() {
    open_round([&] { put_in(0, {0, numel_}); });
    fold(output_, 0, {0, numel_});
    scene_.rounds.end();
  }

  /// Each rank folds its part of a chunk, and takes the others' results.
  void large() {
    const std::int64_t chunk = static_cast<std::int64_t>(slot_bytes) /
                               std::max(input_element_, output_element_) / line * line;
    for (std::int64_t begin = 0; begin < numel_; begin += chunk) {
      reduce_chunk({begin, std::min(chunk, numel_ - begin)});
    }
  }

  void reduce_chunk(Slice chunk) {
    const std::int64_t share = divided_up(divided_up(chunk.count, scene_.size()), line) * line;
    const auto part = [&](int rank) {
      const std::int64_t begin = std::min(rank * share, chunk.count);
      return Slice{begin, std::min(share, chunk.count - begin)};
    };
    const Slice own = part(scene_.rank());
    open_round([&] {
      put_in(0, {chunk.begin, own.begin});
      const std::int64_t behind = own.begin + own.count;
      put_in(behind, {chunk.begin + behind, chunk.count - behind});
    });
    auto* const result = reinterpret_cast<char*>(scene_.rounds.result(scene_.rank()));
    fold(result, own.begin, {chunk.begin + own.begin, own.count});
    scene_.rounds.leave();
    take(result, chunk.begin, own);
    scene_.rounds.await_results();
    for (int step = 1; step < scene_.size(); ++step) {
      const int peer = (scene_.rank() + step) % scene_.size();
      take(reinterpret_cast<const char*>(scene_.rounds.result(peer)), chunk.begin, part(peer));
    }
    scene_.rounds.end();
  }

  void take(const char* result, std::int64_t chunk_begin, Slice part) const {
    if (part.count == 0) return;
    std::memcpy(output_ + (chunk_begin + part.begin) * output_element_, result,
                static_cast<std::size_t>(part.count * output_element_));
  }

  /// In each round every rank puts in something for each of the others.
  void scatter() {
    const auto parts = slices(numel_, operation_.input_counts, scene_.size());
    const std::int64_t room =
        static_cast<std::int64_t>(slot_bytes) / scene_.size() / input_element_ / line * line;
    std::int64_t most = 1;
    for (const Slice& part : parts) most = std::max(most, part.count);
    for (std::int64_t at = 0; at < most; at += room) {
      const auto piece = [&](int rank) {
        const Slice& all = parts[static_cast<std::size_t>(rank)];
        const std::int64_t begin = std::min(at, all.count);
        return Slice{all.begin + begin, std::min(room, all.count - begin)};
      };
      open_round([&] {
        for (int peer = 0; peer < scene_.size(); ++peer) {
          if (peer != scene_.rank()) put_in(peer * room, piece(peer));
        }
      });
      const Slice own = piece(scene_.rank());
      const std::int64_t done = own.begin - parts[static_cast<std::size_t>(scene_.rank())].begin;
      fold(output_ + done * output_element_, scene_.rank() * room, own);
      scene_.rounds.end();
    }
  }

  const Scene& scene_;
  const Operation& operation_;
  const char* input_;
  char* output_;
  std::int64_t input_element_, output_element_;
  std::int64_t numel_;
  bool met_ = false;
  double factor_ = 1;  ///< For the elements that are divided.
};

}  // namespace

void reduce(const Scene& scene, const Operation& operation) { Reduction(scene, operation).run(); }

}  // namespace muster::shm
