#pragma once

#include <muster/stream.hpp>

#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

namespace muster {

/// The items of a Sequence, read one by one. `Value` is their type; `whole_batches` says whether
/// each is a batch.
template <class T>
struct SequenceItems {
  static auto read(T& sequence, std::size_t) {
    if constexpr (NextFunction<T>) {
      return sequence();
    } else if constexpr (GivesExamples<T>) {
      return sequence.next();
    } else {
      return sequence.next_batch();
    }
  }
  using Value = std::remove_cvref_t<decltype(*read(std::declval<T&>(), 0))>;
  static constexpr bool whole_batches = !NextFunction<T> && !GivesExamples<T>;

  static ItemFunction open(std::shared_ptr<T> sequence, std::size_t batch_size) {
    return [sequence = std::move(sequence), batch_size]() -> Item {
      auto value = read(*sequence, batch_size);
      return value.has_value() ? std::make_shared<Value>(std::move(*value)) : nullptr;
    };
  }
};

template <class T>
using BatchOfSize =
    std::remove_cvref_t<decltype(*std::declval<T&>().get_batch(std::declval<std::size_t>()))>;

template <class T>
concept GivesOnlyBySize =
    GivesBatchesOf<T> && !NextFunction<T> && !GivesExamples<T> && !GivesBatches<T>;

template <GivesOnlyBySize T>
struct SequenceItems<T> {
  using Value = BatchOfSize<T>;
  static constexpr bool whole_batches = true;

  static ItemFunction open(std::shared_ptr<T> sequence, std::size_t batch_size) {
    return [sequence = std::move(sequence), batch_size]() -> Item {
      auto value = sequence->get_batch(batch_size);
      return value.has_value() ? std::make_shared<Value>(std::move(*value)) : nullptr;
    };
  }
};

/// torch's data sets without a Stack transform give lists of examples.
template <GivesOnlyBySize T>
  requires std::same_as<BatchOfSize<T>, std::vector<typename BatchOfSize<T>::value_type>>
struct SequenceItems<T> {
  using Value = typename BatchOfSize<T>::value_type;
  static constexpr bool whole_batches = false;

  static ItemFunction open(std::shared_ptr<T> sequence, std::size_t batch_size) {
    return [sequence = std::move(sequence), batch_size, list = std::vector<Value>(),
            next = std::size_t{0}]() mutable -> Item {
      while (next == list.size()) {
        auto read = sequence->get_batch(batch_size);
        if (!read.has_value()) return nullptr;
        list = std::move(*read);
        next = 0;
      }
      return std::make_shared<Value>(std::move(list[next++]));
    };
  }
};

/// What an epoch of a Stream is read from.
template <class T>
auto start_epoch(const std::shared_ptr<T>& stream, const EpochStart& start) {
  if constexpr (EpochFunction<T>) {
    using Started = std::remove_cvref_t<std::invoke_result_t<T&, const EpochStart&>>;
    return std::make_shared<Started>((*stream)(start));
  } else {
    if constexpr (requires { stream->reset(start); }) {
      stream->reset(start);
    } else if constexpr (requires { stream->reset(); }) {
      stream->reset();
    }
    return stream;
  }
}

template <class T>
using ItemsOf = SequenceItems<typename decltype(start_epoch(
    std::declval<const std::shared_ptr<T>&>(), std::declval<const EpochStart&>()))::element_type>;

}  // namespace muster
