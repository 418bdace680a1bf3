#pragma once

#include <muster/adopter.hpp>
#include <muster/data_loader.hpp>
#include <muster/sampler.hpp>
#include <muster/share.hpp>

#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

namespace torch::data {
template <class Dataset, class Sampler>
class StatelessDataLoader;
}

namespace muster {

/// A loader of torch::data, as make_data_loader() makes.
template <class T>
concept TorchLoader = requires(T& loader) {
  *loader.begin();
  loader.end();
  loader.options().workers;
  loader.join();
};
/// A std::unique_ptr or std::shared_ptr of one.
template <class T>
concept TorchLoaderPointer = requires(const T& pointer) {
  pointer.get();
  requires TorchLoader<typename T::element_type>;
};

/// With a sampler of this rank's own part (DistributedRandomSampler, DistributedSequentialSampler).
template <class Loader>
inline constexpr bool reads_own_part = false;
template <class Dataset, class Sampler>
inline constexpr bool reads_own_part<torch::data::StatelessDataLoader<Dataset, Sampler>> =
    requires(Sampler& sampler) { sampler.set_epoch(std::size_t{0}); };

/// The batches of a loader of torch::data, as a stream.
template <class Loader>
class TorchBatches {
 public:
  explicit TorchBatches(std::shared_ptr<Loader> loader) : loader_(std::move(loader)) {}

  /// What the loader's sampler draws at random is a function of (seed, epoch), so that it is equal
  /// on all ranks. An epoch before that was left early is read to its end first, if the loader has
  /// workers: LibTorch's cannot stop.
  auto operator()(const EpochStart& start) {
    if (open_ && !open_->ended && loader_->options().workers > 0) {
      while (open_->next()) {
      }
    }
    const DefaultGeneratorScope random(start.seed, start.epoch);
    open_ = std::make_shared<Epoch>(loader_);
    return Reader{open_};
  }

 private:
  using Iterator = decltype(std::declval<Loader&>().begin());
  using Batch = std::remove_cvref_t<decltype(*std::declval<Iterator&>())>;

  struct Epoch {
    explicit Epoch(const std::shared_ptr<Loader>& loader)
        : kept(loader), now(loader->begin()), end(loader->end()) {}
    std::optional<Batch> next() {
      if (ended) return std::nullopt;
      if (begun) ++now;
      begun = true;
      ended = !(now != end);
      return ended ? std::nullopt : std::optional<Batch>(std::move(*now));
    }

    std::shared_ptr<Loader> kept;
    Iterator now, end;
    bool begun = false, ended = false;
  };
  struct Reader {
    std::shared_ptr<Epoch> epoch;
    std::optional<Batch> next_batch() { return epoch->next(); }
  };

  std::shared_ptr<Loader> loader_;
  std::shared_ptr<Epoch> open_;
};

/// A DataLoader over one of torch::data: the ranks take turns with its batches. An lvalue, also of
/// std::unique_ptr, must outlive the result. Every rank reads all batches and keeps each
/// num_processes-th; with options.dispatch rank 0 alone reads. One whose sampler is distributed
/// reads this rank's part already, and stays as it is.
template <class T>
  requires(TorchLoader<std::remove_cvref_t<T>> || TorchLoaderPointer<std::remove_cvref_t<T>>)
auto deal_batches(T&& loader, DataLoaderOptions options = {}) {
  using Object = std::remove_cvref_t<T>;
  const auto make = [&]<class L>(std::type_identity<L>) {
    options.sharded = options.sharded || reads_own_part<L>;
    return DataLoader(TorchBatches<L>(share<L>(std::forward<T>(loader))), std::move(options));
  };
  if constexpr (TorchLoader<Object>) {
    return make(std::type_identity<Object>());
  } else {
    return make(std::type_identity<typename Object::element_type>());
  }
}

/// One object of prepare().
template <class T>
  requires(TorchLoader<std::remove_cvref_t<T>> || TorchLoaderPointer<std::remove_cvref_t<T>>)
auto take(Adopter& adopter, T&& loader) {
  auto part = adopter.part();
  auto dealt = deal_batches(std::forward<T>(loader));
  adopter.note_dealt(dealt.options().sharded);
  return dealt.sharded(part.index, part.count, std::move(part.loop), part.device, part.seed);
}

}  // namespace muster
