#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace muster {

/// A tensor of a structure, and where it is: `[0]["loss"]`; empty for a tensor that is all of it.
struct TensorLeaf {
  std::string path;
  at::Tensor tensor;
  std::string note{};  ///< Arguments of its own that ranks must agree on.
};

template <class T>
struct StructureTraits : std::false_type {};

template <>
struct StructureTraits<at::Tensor> : std::true_type {
  template <class Tensor, class Visit>
  static void visit(Tensor& tensor, const std::string& path, Visit& visit) {
    visit(tensor, path);
  }
};

/// A tensor, or a std::vector, std::array, std::tuple, std::pair, std::optional, or std::map of
/// names, of such. Nested as deep as one likes.
template <class T>
concept TensorStructure = StructureTraits<std::remove_cvref_t<T>>::value;

/// One that is no tensor itself.
template <class T>
concept NestedTensors = TensorStructure<T> && !std::is_same_v<std::remove_cvref_t<T>, at::Tensor>;

/// Calls visit(tensor, path) for each tensor, always in the same order.
template <TensorStructure S, class Visit>
void for_each_tensor(S& structure, Visit&& visit, const std::string& path = {}) {
  StructureTraits<std::remove_const_t<S>>::visit(structure, path, visit);
}

template <TensorStructure S>
std::vector<TensorLeaf> leaves_of_structure(const S& structure) {
  std::vector<TensorLeaf> leaves;
  for_each_tensor(structure, [&](const at::Tensor& tensor, const std::string& path) {
    leaves.push_back({path, tensor});
  });
  return leaves;
}

/// `structure` with other tensors, as many as it has.
template <TensorStructure S>
S with_leaves(S structure, const std::vector<at::Tensor>& tensors) {
  auto next = tensors.begin();
  for_each_tensor(structure, [&](at::Tensor& tensor, const std::string&) { tensor = *next++; });
  return structure;
}

/// What the traits of lists have in common.
struct ListTraits {
  template <class List, class Visit>
  static void visit(List& list, const std::string& path, Visit& visit) {
    std::size_t index = 0;
    for (auto& item : list) {
      for_each_tensor(item, visit, path + "[" + std::to_string(index++) + "]");
    }
  }
};
template <class T>
struct StructureTraits<std::vector<T>> : std::bool_constant<TensorStructure<T>>, ListTraits {};
template <class T, std::size_t length>
struct StructureTraits<std::array<T, length>> : std::bool_constant<TensorStructure<T>>,
                                                ListTraits {};

template <class... Ts>
struct StructureTraits<std::tuple<Ts...>> : std::bool_constant<(TensorStructure<Ts> && ...)> {
  template <class Tuple, class Visit>
  static void visit(Tuple& tuple, const std::string& path, Visit& visit) {
    std::size_t index = 0;
    std::apply(
        [&](auto&... items) {
          (for_each_tensor(items, visit, path + "[" + std::to_string(index++) + "]"), ...);
        },
        tuple);
  }
};

template <class A, class B>
struct StructureTraits<std::pair<A, B>>
    : std::bool_constant<TensorStructure<A> && TensorStructure<B>> {
  template <class Pair, class Visit>
  static void visit(Pair& pair, const std::string& path, Visit& visit) {
    for_each_tensor(pair.first, visit, path + "[0]");
    for_each_tensor(pair.second, visit, path + "[1]");
  }
};

template <class T>
struct StructureTraits<std::optional<T>> : std::bool_constant<TensorStructure<T>> {
  template <class Optional, class Visit>
  static void visit(Optional& optional, const std::string& path, Visit& visit) {
    if (optional) for_each_tensor(*optional, visit, path);
  }
};

template <class T, class Less, class Allocator>
struct StructureTraits<std::map<std::string, T, Less, Allocator>>
    : std::bool_constant<TensorStructure<T>> {
  template <class Map, class Visit>
  static void visit(Map& map, const std::string& path, Visit& visit) {
    for (auto& [name, item] : map) for_each_tensor(item, visit, path + "[\"" + name + "\"]");
  }
};

}  // namespace muster
