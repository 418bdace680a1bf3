#pragma once

#include <muster/data_loader_options.hpp>

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

/// What a stream is told when an epoch begins.
struct EpochStart {
  std::int64_t seed = 42;
  std::int64_t epoch = 0;
  /// Which part of the data the stream is to give: this rank's if the loader is `sharded`, else
  /// {0, 1}, all of it, of which the loader keeps this rank's part.
  Shard shard = {};
};

template <class T>
concept OptionalLike = requires(T& value) {
  { value.has_value() } -> std::convertible_to<bool>;
  *value;
};

template <class T>
concept NextFunction = requires(T& next) {
  { next() } -> OptionalLike;
};
template <class T>
concept GivesExamples = requires(T& stream) {
  { stream.next() } -> OptionalLike;
};
template <class T>
concept GivesBatches = requires(T& stream) {
  { stream.next_batch() } -> OptionalLike;
};
template <class T>
concept GivesBatchesOf = requires(T& stream, std::size_t size) {
  { stream.get_batch(size) } -> OptionalLike;
};

/// Items one after the other, once: a function that returns a std::optional, or an object with
/// next() for examples, next_batch() for batches, or get_batch(size) as torch's stateful data sets
/// have.
template <class T>
concept Sequence = NextFunction<T> || GivesExamples<T> || GivesBatches<T> || GivesBatchesOf<T>;

/// A function that is called with an EpochStart and returns that epoch's Sequence.
template <class T>
concept EpochFunction = std::invocable<T&, const EpochStart&> &&
                        Sequence<std::remove_cvref_t<std::invoke_result_t<T&, const EpochStart&>>>;

/// Data without a size, read from front to end: a function that starts an epoch, or a Sequence
/// itself. The latter is started again by its reset(EpochStart) or reset(), if it has one.
template <class T>
concept Stream = EpochFunction<T> || Sequence<T>;

/// An example or batch of a stream, of a type that its DataLoader knows; null: the end.
using Item = std::shared_ptr<void>;
using ItemFunction = std::function<Item()>;

}  // namespace muster
