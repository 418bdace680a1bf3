#include <muster/value.hpp>

#include <charconv>
#include <cmath>

namespace muster {
namespace {

std::string number_text(double number) {
  char buffer[32];
  // The shortest text of a large whole number has an exponent, which nobody likes to read.
  const bool plain = std::abs(number) < 1e15 && number == std::trunc(number);
  const auto result =
      plain ? std::to_chars(buffer, buffer + sizeof buffer, number, std::chars_format::fixed)
            : std::to_chars(buffer, buffer + sizeof buffer, number);
  return std::string(buffer, result.ptr);
}

struct AsText {
  std::string operator()(std::monostate) const { return "none"; }
  std::string operator()(Auto) const { return "auto"; }
  std::string operator()(bool value) const { return value ? "true" : "false"; }
  std::string operator()(std::int64_t value) const { return std::to_string(value); }
  std::string operator()(double value) const { return number_text(value); }
  std::string operator()(const std::string& value) const { return value; }
  std::string operator()(const std::vector<std::string>& list) const {
    std::string text;
    for (const std::string& item : list) text.append(text.empty() ? "" : ",").append(item);
    return text;
  }
  std::string operator()(const std::map<std::string, std::string>& map) const {
    std::string text;
    for (const auto& [name, value] : map) {
      text.append(text.empty() ? "" : ",").append(name).append("=").append(value);
    }
    return text;
  }
};

struct AsToml : AsText {
  using AsText::operator();
  std::string operator()(std::monostate) const { return "\"none\""; }
  std::string operator()(Auto) const { return "\"auto\""; }
  std::string operator()(const std::string& value) const { return toml_string(value); }
  std::string operator()(const std::vector<std::string>& list) const {
    std::string text = "[";
    for (const std::string& item : list) {
      text.append(text.size() == 1 ? "" : ", ").append(toml_string(item));
    }
    return text + "]";
  }
  std::string operator()(const std::map<std::string, std::string>& map) const {
    std::string text = "{";
    for (const auto& [name, value] : map) {
      text.append(text.size() == 1 ? " " : ", ").append(toml_string(name)).append(" = ");
      text += toml_string(value);
    }
    return text + (map.empty() ? "}" : " }");
  }
};

}  // namespace

std::string to_text(const Value& value) { return std::visit(AsText{}, value); }

std::string to_toml(const Value& value) { return std::visit(AsToml{}, value); }

std::string toml_string(std::string_view text) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string quoted = "\"";
  for (const char letter : text) {
    const auto code = static_cast<unsigned char>(letter);
    if (letter == '"' || letter == '\\') {
      quoted.append("\\").push_back(letter);
    } else if (letter == '\n') {
      quoted += "\\n";
    } else if (letter == '\t') {
      quoted += "\\t";
    } else if (code < 0x20 || code == 0x7f) {
      quoted.append("\\u00").push_back(digits[code >> 4]);
      quoted.push_back(digits[code & 15]);
    } else {
      quoted.push_back(letter);
    }
  }
  return quoted + "\"";
}

}  // namespace muster
