#pragma once

#include <muster/collate.hpp>
#include <muster/example_like.hpp>
#include <muster/visit_parts.hpp>

#include <ATen/core/Tensor.h>

#include <concepts>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

namespace muster {

at::Tensor to_device(at::Tensor tensor, at::Device device);

/// Throws UnsupportedError that names the type unless `device` is the CPU, where batches are.
void require_cpu(const std::type_info& type, at::Device device);

/// A batch with its tensors on `device`: inside structs of `data` and `target`, tuples, pairs,
/// arrays, vectors, optionals and maps by string; numbers and strings as they are. Any other type
/// is refused unless `device` is the CPU. For a batch type of your own, write to_device(YourBatch,
/// at::Device) in its namespace.
template <class T>
T to_device(T batch, at::Device device) {
  if constexpr (ExampleLike<T>) {
    batch.data = to_device(std::move(batch.data), device);
    if constexpr (HasTarget<T>) batch.target = to_device(std::move(batch.target), device);
  } else if constexpr (TupleLike<T>) {
    std::apply(
        [device](auto&... member) { ((member = to_device(std::move(member), device)), ...); },
        batch);
  } else if constexpr (requires {
                         requires std::same_as<T, std::vector<typename T::value_type>>;
                       }) {
    if constexpr (!std::same_as<T, std::vector<bool>>) {
      for (auto& member : batch) member = to_device(std::move(member), device);
    }
  } else if constexpr (requires {
                         requires std::same_as<T, std::optional<typename T::value_type>>;
                       }) {
    if (batch) *batch = to_device(std::move(*batch), device);
  } else if constexpr (is_text_map<T>) {
    for (auto& [key, value] : batch) value = to_device(std::move(value), device);
  } else if constexpr (!std::is_arithmetic_v<T> && !std::same_as<T, std::string>) {
    require_cpu(typeid(T), device);
  }
  return batch;
}

}  // namespace muster
