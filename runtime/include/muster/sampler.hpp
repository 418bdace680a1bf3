#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

namespace muster {

/// Meanwhile LibTorch's random numbers on the CPU are a function of (seed, epoch); afterwards they
/// go on as if nothing had been drawn.
class DefaultGeneratorScope {
 public:
  DefaultGeneratorScope(std::int64_t seed, std::int64_t epoch);
  ~DefaultGeneratorScope();
  DefaultGeneratorScope(const DefaultGeneratorScope&) = delete;
  DefaultGeneratorScope& operator=(const DefaultGeneratorScope&) = delete;

 private:
  struct Saved;
  std::unique_ptr<Saved> saved_;
};

/// Batches chosen by the user instead of cut from an order: a list that is the same in every epoch,
/// or a function that starts the sequence of an epoch. Batches may differ in size; none may be
/// empty.
class BatchSampler {
 public:
  using Batch = std::vector<std::int64_t>;                 ///< Indices into the data set.
  using Sequence = std::function<std::optional<Batch>()>;  ///< The next batch; nothing at the end.

  BatchSampler() = default;                  ///< None.
  BatchSampler(std::vector<Batch> batches);  // NOLINT(google-explicit-constructor)
  /// `start(epoch)` returns a Sequence or a list of batches. It must not depend on the rank: every
  /// rank calls it and takes its share. Called on the thread that runs the loop.
  template <class Function>
    requires std::invocable<Function&, std::int64_t>
  BatchSampler(Function start)  // NOLINT(google-explicit-constructor)
      : start_([start = std::make_shared<Function>(std::move(start))](std::int64_t epoch) {
          return as_sequence((*start)(epoch));
        }) {}

  explicit operator bool() const noexcept { return static_cast<bool>(start_); }
  Sequence start(std::int64_t epoch) const { return start_(epoch); }

 private:
  static Sequence as_sequence(Sequence sequence) { return sequence; }
  static Sequence as_sequence(std::vector<Batch> batches);

  std::function<Sequence(std::int64_t)> start_;
};

/// A sampler of torch::data: RandomSampler, SequentialSampler, DistributedRandomSampler, ...
template <class T>
concept TorchSampler = requires(T& sampler) {
  sampler.reset();
  { sampler.next(std::size_t{1}).has_value() } -> std::convertible_to<bool>;
  sampler.next(std::size_t{1})->begin();
};

/// The order of each epoch, chosen by the user.
class Sampler {
 public:
  using Order = std::vector<std::int64_t>;  ///< Indices into the data set.

  Sampler() = default;        ///< None.
  Sampler(std::nullptr_t) {}  // NOLINT(google-explicit-constructor)
  /// `order(epoch)` returns an Order. It must not depend on the rank. Called on the thread that
  /// runs the loop.
  template <class Function>
    requires std::is_invocable_r_v<Order, Function&, std::int64_t>
  Sampler(Function order)  // NOLINT(google-explicit-constructor)
      : order_([order = std::make_shared<Function>(std::move(order))](
                   std::int64_t epoch, std::int64_t) -> Order { return (*order)(epoch); }) {}
  /// One of torch::data's, as it is. What it draws at random is a function of (seed, epoch), so
  /// that it is equal on all ranks and another one each epoch.
  template <class Torch>
    requires(!std::same_as<Torch, Sampler> && TorchSampler<Torch>)
  Sampler(Torch sampler)  // NOLINT(google-explicit-constructor)
      : order_([sampler = std::make_shared<Torch>(std::move(sampler))](std::int64_t epoch,
                                                                       std::int64_t seed) {
          if constexpr (requires { sampler->set_epoch(std::size_t{0}); }) {
            sampler->set_epoch(static_cast<std::size_t>(epoch));
          }
          const DefaultGeneratorScope random(seed, epoch);
          sampler->reset();
          Order order;
          for (auto next = sampler->next(1024); next.has_value(); next = sampler->next(1024)) {
            order.insert(order.end(), next->begin(), next->end());
          }
          return order;
        }) {}

  explicit operator bool() const noexcept { return static_cast<bool>(order_); }
  Order order(std::int64_t epoch, std::int64_t seed) const { return order_(epoch, seed); }

 private:
  std::function<Order(std::int64_t epoch, std::int64_t seed)> order_;
};

}  // namespace muster
