#pragma once

#include <muster/collate.hpp>
#include <muster/example_like.hpp>

#include <ATen/core/Tensor.h>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

namespace muster {

/// Is shown what a batch is made of, in an order that depends on its type and lengths only. It may
/// change what it sees.
class PartVisitor {
 public:
  virtual ~PartVisitor() = default;
  PartVisitor(const PartVisitor&) = delete;
  PartVisitor& operator=(const PartVisitor&) = delete;
  virtual void tensor(at::Tensor& tensor) = 0;
  virtual void number(std::span<std::byte> bytes) = 0;
  virtual void text(std::string& text) = 0;
  /// A list begins. Returns how long it is to be; its elements follow.
  virtual std::size_t list(std::size_t length) = 0;

 protected:
  PartVisitor() = default;
};

template <class T>
inline constexpr bool is_vector = false;
template <class T>
inline constexpr bool is_vector<std::vector<T>> = true;
template <class T>
inline constexpr bool is_optional = false;
template <class T>
inline constexpr bool is_optional<std::optional<T>> = true;
/// A map from strings.
template <class T>
inline constexpr bool is_text_map = false;
template <class T>
inline constexpr bool is_text_map<std::map<std::string, T>> = true;
template <class T>
inline constexpr bool is_text_map<std::unordered_map<std::string, T>> = true;

/// Whether visit_parts() knows all of a type: tensors, numbers, strings, and structs of `data` and
/// `target`, tuples, pairs, arrays, vectors, optionals and maps by string of these.
template <class T>
constexpr bool has_known_parts() {
  if constexpr (std::same_as<T, at::Tensor> || std::is_arithmetic_v<T> || std::is_enum_v<T> ||
                std::same_as<T, std::string> || std::same_as<T, std::vector<bool>>) {
    return true;
  } else if constexpr (is_vector<T> || is_optional<T>) {
    return has_known_parts<typename T::value_type>();
  } else if constexpr (is_text_map<T>) {
    return has_known_parts<typename T::mapped_type>();
  } else if constexpr (TupleLike<T>) {
    return []<std::size_t... index>(std::index_sequence<index...>) {
      return (has_known_parts<std::tuple_element_t<index, T>>() && ...);
    }(std::make_index_sequence<std::tuple_size_v<T>>());
  } else if constexpr (ExampleLike<T>) {
    if constexpr (HasTarget<T>) {
      return has_known_parts<decltype(T::data)>() && has_known_parts<decltype(T::target)>();
    } else {
      return has_known_parts<decltype(T::data)>();
    }
  } else {
    return false;
  }
}

template <class T>
void visit_parts(T& value, PartVisitor& visitor);

template <class T>
void visit_map(T& map, PartVisitor& visitor) {
  std::vector<std::pair<std::string, typename T::mapped_type>> entries;
  for (auto& [key, value] : map) entries.emplace_back(key, std::move(value));
  map.clear();
  entries.resize(visitor.list(entries.size()));
  for (auto& [key, value] : entries) {
    visitor.text(key);
    visit_parts(value, visitor);
    map.emplace(std::move(key), std::move(value));
  }
}

template <class T>
void visit_list(T& list, PartVisitor& visitor) {
  list.resize(visitor.list(list.size()));
  if constexpr (std::same_as<T, std::vector<bool>>) {
    for (std::size_t i = 0; i < list.size(); ++i) {
      bool value = list[i];
      visitor.number(std::as_writable_bytes(std::span(&value, 1)));
      list[i] = value;
    }
  } else {
    for (auto& member : list) visit_parts(member, visitor);
  }
}

template <class T>
void visit_parts(T& value, PartVisitor& visitor) {
  static_assert(has_known_parts<T>());
  if constexpr (std::same_as<T, at::Tensor>) {
    visitor.tensor(value);
  } else if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) {
    visitor.number(std::as_writable_bytes(std::span(&value, 1)));
  } else if constexpr (std::same_as<T, std::string>) {
    visitor.text(value);
  } else if constexpr (is_vector<T>) {
    visit_list(value, visitor);
  } else if constexpr (is_optional<T>) {
    const bool filled = visitor.list(value ? 1 : 0) == 1;
    if (filled && !value) value.emplace();
    if (!filled) value.reset();
    if (value) visit_parts(*value, visitor);
  } else if constexpr (is_text_map<T>) {
    visit_map(value, visitor);
  } else if constexpr (TupleLike<T>) {
    std::apply([&](auto&... member) { (visit_parts(member, visitor), ...); }, value);
  } else {
    visit_parts(value.data, visitor);
    if constexpr (HasTarget<T>) visit_parts(value.target, visitor);
  }
}

/// Counts the rows of the first tensor that has any.
class RowCounter : public PartVisitor {
 public:
  std::int64_t rows() const noexcept { return rows_; }  ///< -1: there was none.

  void tensor(at::Tensor& tensor) override;
  void number(std::span<std::byte>) override {}
  void text(std::string&) override {}
  std::size_t list(std::size_t length) override { return length; }

 private:
  std::int64_t rows_ = -1;
};

/// Gives every tensor memory of its own.
class TensorSeparator : public PartVisitor {
 public:
  void tensor(at::Tensor& tensor) override;
  void number(std::span<std::byte>) override {}
  void text(std::string&) override {}
  std::size_t list(std::size_t length) override { return length; }
};

/// Samples of a batch: rows of its first tensor, or the length of a list; -1: cannot be told.
template <class T>
std::int64_t rows_of(T& batch) {
  if constexpr (is_vector<T>) return static_cast<std::int64_t>(batch.size());
  RowCounter counter;
  if constexpr (has_known_parts<T>()) visit_parts(batch, counter);
  return counter.rows();
}

/// A copy whose tensors share no memory with those of `batch`.
template <class T>
T separate_copy(const T& batch) {
  T copy(batch);
  TensorSeparator separator;
  if constexpr (has_known_parts<T>()) visit_parts(copy, separator);
  return copy;
}

}  // namespace muster
