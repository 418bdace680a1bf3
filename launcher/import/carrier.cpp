#include "import/carrier.hpp"

#include <muster/error.hpp>
#include <muster/flags.hpp>

#include "screen/printable.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

namespace muster::launcher {
namespace {

constexpr const char* not_here = "no setting of muster means this";

/// "--flag value: reason" without what the file does not say.
std::string reason_of(const ConfigError& error) {
  const std::string text = error.what();
  const auto colon = text.starts_with('-') ? text.find(": ") : text.npos;
  return colon == text.npos ? text : text.substr(colon + 2);
}

}  // namespace

void Carrier::carry(int line, const std::string& what, const std::string& flag,
                    std::optional<std::string> value) {
  const auto word = look_up(flag);
  if (!word.known()) return refuse(line, what, not_here);
  try {
    std::vector<std::string> notes;
    const auto ours = translate({word.name, std::move(value), ""}, notes);
    if (ours.empty() && !notes.empty()) refuse(line, what, word.foreign->text);
    for (const auto& one : ours) {
      const auto* setting = find_setting_by_flag(one.name);
      if (setting == nullptr) return refuse(line, what, "it belongs on the command line");
      try {
        import_.settings[setting] = parse_value(*setting, one.value.value_or("true"));
      } catch (const ConfigError& error) {
        refuse(line, what, setting->id() + " is " + error.what());
      }
    }
  } catch (const ConfigError& error) {
    refuse(line, what, reason_of(error));
  }
}

bool Carrier::can_carry(const std::string& flag, const std::string& value) {
  try {
    std::vector<std::string> notes;
    const auto word = look_up(flag);
    return word.known() && !translate({word.name, value, ""}, notes).empty();
  } catch (const ConfigError&) {
    return false;
  }
}

void Carrier::give(int line, const std::string& what, std::string_view id, Value value) {
  const auto* setting = find_setting_by_id(id);
  if (setting == nullptr) return refuse(line, what, not_here);
  try {
    check_value(*setting, value);
    import_.settings[setting] = std::move(value);
  } catch (const ConfigError& error) {
    refuse(line, what, setting->id() + " is " + error.what());
  }
}

void Carrier::refuse(int line, const std::string& what, std::string_view reason) {
  constexpr std::size_t longest = 300;
  lines_.emplace_back(line, fmt::format("{}:{}: {}: not carried over: {}", file_, line,
                                        printable(what, longest), printable(reason, longest)));
}

Import Carrier::finish() {
  std::stable_sort(lines_.begin(), lines_.end(),
                   [](const auto& one, const auto& other) { return one.first < other.first; });
  for (auto& [line, text] : lines_) import_.notes.push_back(std::move(text));
  return std::move(import_);
}

}  // namespace muster::launcher
