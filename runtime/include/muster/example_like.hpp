#pragma once

#include <muster/dataset.hpp>

#include <type_traits>

namespace torch::data {
template <class Data, class Target>
struct Example;
}

namespace muster {

template <class T>
concept HasData = requires { requires std::is_member_object_pointer_v<decltype(&T::data)>; };
template <class T>
concept HasTarget =
    HasData<T> && requires { requires std::is_member_object_pointer_v<decltype(&T::target)>; };

/// torch::data::Example, which is made from data and target.
template <class T>
inline constexpr bool is_torch_example = false;
template <class Data, class Target>
inline constexpr bool is_torch_example<torch::data::Example<Data, Target>> = true;

/// Becomes any member of an aggregate.
struct AnyMember {
  template <class T>
  operator T() const;  // NOLINT(google-explicit-constructor)
};

/// A plain struct that has more members than `data` and `target`. A third one either makes it
/// larger, or lies in what would be padding and takes a value.
template <class T>
inline constexpr bool has_more_members = [] {
  if constexpr (HasTarget<T>) {
    return sizeof(T) != sizeof(Example<decltype(T::data), decltype(T::target)>) ||
           requires(AnyMember any) {
             T{any, any, any};
           };
  } else {
    return sizeof(T) != sizeof(T::data) || requires(AnyMember any) { T{any, any}; };
  }
}();

/// A struct of `data` and perhaps `target`, in any order, and of nothing else: ours, torch's, or a
/// plain one of your own.
template <class T>
concept ExampleLike =
    HasData<T> && (is_torch_example<T> || (std::is_aggregate_v<T> && !has_more_members<T>));

}  // namespace muster
