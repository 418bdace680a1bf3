#pragma once

#include <muster/setting.hpp>

#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

namespace muster {

/// How a type of a settings struct is kept as a Value.
template <class T>
struct MemberType;

template <>
struct MemberType<bool> {
  static constexpr ValueKind kind = ValueKind::boolean;
  static Value read(bool member) { return member; }
  static void write(bool& member, const Value& value) { member = std::get<bool>(value); }
};

template <class T>
  requires std::is_integral_v<T>
struct MemberType<T> {
  static constexpr ValueKind kind = ValueKind::integer;
  static Value read(T member) { return std::int64_t{member}; }
  static void write(T& member, const Value& value) {
    member = static_cast<T>(std::get<std::int64_t>(value));
  }
};

template <>
struct MemberType<double> {
  static constexpr ValueKind kind = ValueKind::number;
  static Value read(double member) { return member; }
  static void write(double& member, const Value& value) { member = std::get<double>(value); }
};

template <>
struct MemberType<Seconds> {
  static constexpr ValueKind kind = ValueKind::seconds;
  static Value read(Seconds member) { return member.count(); }
  static void write(Seconds& member, const Value& value) {
    member = Seconds(std::get<double>(value));
  }
};

template <>
struct MemberType<std::string> {
  static constexpr ValueKind kind = ValueKind::text;
  static Value read(const std::string& member) { return member; }
  static void write(std::string& member, const Value& value) {
    member = std::get<std::string>(value);
  }
};

template <>
struct MemberType<std::vector<std::string>> {
  static constexpr ValueKind kind = ValueKind::list;
  static Value read(const std::vector<std::string>& member) { return member; }
  static void write(std::vector<std::string>& member, const Value& value) {
    member = std::get<std::vector<std::string>>(value);
  }
};

template <>
struct MemberType<std::map<std::string, std::string>> {
  static constexpr ValueKind kind = ValueKind::map;
  static Value read(const std::map<std::string, std::string>& member) { return member; }
  static void write(std::map<std::string, std::string>& member, const Value& value) {
    member = std::get<std::map<std::string, std::string>>(value);
  }
};

template <class T>
struct MemberType<AutoOr<T>> {
  static constexpr ValueKind kind = MemberType<T>::kind;
  static Value read(const AutoOr<T>& member) {
    return member.is_auto() ? Value(Auto{}) : MemberType<T>::read(*member.value);
  }
  static void write(AutoOr<T>& member, const Value& value) {
    member = {};
    if (!std::holds_alternative<Auto>(value)) MemberType<T>::write(member.value.emplace(), value);
  }
};

template <class T>
struct MemberType<std::optional<T>> {
  static constexpr ValueKind kind = MemberType<T>::kind;
  static Value read(const std::optional<T>& member) {
    return member ? MemberType<T>::read(*member) : Value();
  }
  static void write(std::optional<T>& member, const Value& value) {
    member.reset();
    if (!std::holds_alternative<std::monostate>(value)) {
      MemberType<T>::write(member.emplace(), value);
    }
  }
};

template <class T>
struct Unwrapped {
  using type = T;
  static constexpr bool is_auto = false, is_optional = false;
};
template <class T>
struct Unwrapped<AutoOr<T>> {
  using type = T;
  static constexpr bool is_auto = true, is_optional = false;
};
template <class T>
struct Unwrapped<std::optional<T>> {
  using type = typename Unwrapped<T>::type;
  static constexpr bool is_auto = Unwrapped<T>::is_auto, is_optional = true;
};

/// The way to one member: bind<&Settings::train, &TrainSettings::seed>().
template <auto section, auto member>
consteval SettingMember bind() {
  using Type = std::remove_cvref_t<decltype((std::declval<Settings&>().*section).*member)>;
  using Inner = typename Unwrapped<Type>::type;
  SettingMember bound{
      .kind = MemberType<Type>::kind,
      .allows_auto = Unwrapped<Type>::is_auto,
      // An optional that may also be `auto` belongs to a group, whose other member undoes it.
      .allows_none = Unwrapped<Type>::is_optional && !Unwrapped<Type>::is_auto,
      .read =
          [](const Settings& settings) {
            return MemberType<Type>::read((settings.*section).*member);
          },
      .write =
          [](Settings& settings, const Value& value) {
            MemberType<Type>::write((settings.*section).*member, value);
          },
  };
  if constexpr (MemberType<Type>::kind == ValueKind::integer) {
    bound.lowest = std::numeric_limits<Inner>::min();
    bound.highest = std::numeric_limits<Inner>::max();
  }
  return bound;
}

}  // namespace muster
