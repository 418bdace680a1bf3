#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace muster {

/// The word `auto`, which is a value: decided later, from what is found.
struct Auto {
  bool operator==(const Auto&) const = default;
};

/// What a setting holds, whatever it came from. std::monostate: not set, or the word `none`.
/// Seconds are a double.
using Value = std::variant<std::monostate, Auto, bool, std::int64_t, double, std::string,
                           std::vector<std::string>, std::map<std::string, std::string>>;

/// As written after a flag or in a variable: `4`, `auto`, `0,2`, `true`, `none`.
/// Maps are `A=1,B=2`, to be read by people only.
std::string to_text(const Value& value);

/// As written in a TOML file: `4`, `"auto"`, `["0", "2"]`.
std::string to_toml(const Value& value);

/// Quoted and escaped as a TOML string.
std::string toml_string(std::string_view text);

}  // namespace muster
