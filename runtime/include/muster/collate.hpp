#pragma once

#include <muster/dataset.hpp>
#include <muster/example_like.hpp>

#include <ATen/core/Tensor.h>

#include <concepts>
#include <cstdint>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace muster {

/// [n, ...] of n tensors of one shape.
at::Tensor stack(const std::vector<at::Tensor>& tensors);
/// [n] of int64, float or double.
at::Tensor to_tensor(const std::vector<std::int64_t>& values);
at::Tensor to_tensor(const std::vector<float>& values);
at::Tensor to_tensor(const std::vector<double>& values);
/// [n] of bool, from 0 and 1.
at::Tensor to_bool_tensor(const std::vector<std::int64_t>& values);

/// std::tuple, std::pair and std::array.
template <class T>
concept TupleLike = requires { std::tuple_size<T>::value; };

/// Examples -> batch: tensors are stacked, numbers become one tensor (int64, float, double, bool),
/// strings stay a list; structs of `data` and `target`, tuples and pairs go member by member.
struct DefaultCollate {
  template <class T>
  auto operator()(std::vector<T> examples) const;

 private:
  template <class T>
  static auto numbers(const std::vector<T>& values);
  template <class T, std::size_t... index>
  auto members(std::vector<T>& examples, std::index_sequence<index...>) const;
  template <class T>
  auto example(std::vector<T>& examples) const;
  /// A T of these values.
  template <class T, class Data, class... Target>
  static T like(Data data, Target... target);
  /// The collated values of what `member` takes out of each example.
  template <class T, class Member>
  auto column(std::vector<T>& examples, Member member) const;
};

template <class T>
auto DefaultCollate::operator()(std::vector<T> examples) const {
  if constexpr (std::same_as<T, at::Tensor>) {
    return stack(examples);
  } else if constexpr (std::is_arithmetic_v<T>) {
    return numbers(examples);
  } else if constexpr (std::same_as<T, std::string>) {
    return examples;
  } else if constexpr (TupleLike<T>) {
    return members(examples, std::make_index_sequence<std::tuple_size_v<T>>());
  } else {
    static_assert(ExampleLike<T>,
                  "muster cannot make a batch of this type of example, which is no tensor, number, "
                  "string or tuple, nor a struct of data and target alone: give the DataLoader a "
                  "third argument, a function from std::vector<example> to a batch");
    return example(examples);
  }
}

template <class T>
auto DefaultCollate::numbers(const std::vector<T>& values) {
  if constexpr (std::same_as<T, bool>) {
    return to_bool_tensor({values.begin(), values.end()});
  } else if constexpr (std::floating_point<T>) {
    using Kept = std::conditional_t<std::same_as<T, float>, float, double>;
    return to_tensor(std::vector<Kept>(values.begin(), values.end()));
  } else {
    return to_tensor(std::vector<std::int64_t>(values.begin(), values.end()));
  }
}

template <class T, class Member>
auto DefaultCollate::column(std::vector<T>& examples, Member member) const {
  using Element = std::remove_cvref_t<decltype(member(examples.front()))>;
  std::vector<Element> values;
  values.reserve(examples.size());
  for (T& example : examples) values.push_back(std::move(member(example)));
  return (*this)(std::move(values));
}

template <class T, std::size_t... index>
auto DefaultCollate::members(std::vector<T>& examples, std::index_sequence<index...>) const {
  return std::tuple(
      column(examples, [](T& example) -> auto& { return std::get<index>(example); })...);
}

template <class T, class Data, class... Target>
T DefaultCollate::like(Data data, Target... target) {
  if constexpr (is_torch_example<T>) {
    return T(std::move(data), std::move(target)...);
  } else {
    T made{};
    made.data = std::move(data);
    ((made.target = std::move(target)), ...);
    return made;
  }
}

template <class T>
auto DefaultCollate::example(std::vector<T>& examples) const {
  auto data = column(examples, [](T& example) -> auto& { return example.data; });
  if constexpr (HasTarget<T>) {
    auto target = column(examples, [](T& example) -> auto& { return example.target; });
    if constexpr (std::same_as<decltype(data), decltype(T::data)> &&
                  std::same_as<decltype(target), decltype(T::target)>) {
      return like<T>(std::move(data), std::move(target));
    } else {
      return Example<decltype(data), decltype(target)>{std::move(data), std::move(target)};
    }
  } else if constexpr (std::same_as<decltype(data), decltype(T::data)>) {
    return like<T>(std::move(data));
  } else {
    return data;
  }
}

}  // namespace muster
