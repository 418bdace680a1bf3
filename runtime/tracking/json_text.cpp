#include "tracking/json_text.hpp"

#include "tracking/number_text.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace muster::tracking {

std::string json(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string json(double value) {
  if (std::isnan(value)) return R"("NaN")";
  if (std::isinf(value)) return value > 0 ? R"("Infinity")" : R"("-Infinity")";
  return exact(value);
}

std::string json(const TrackedValue& value) {
  struct Writer {
    std::string operator()(bool truth) const { return truth ? "true" : "false"; }
    std::string operator()(std::int64_t whole) const { return std::to_string(whole); }
    std::string operator()(double real) const { return json(real); }
    std::string operator()(const std::string& text) const { return json(std::string_view(text)); }
  };
  return std::visit(Writer{}, value.get());
}

std::string json_members(const TrackedItems& items) {
  std::string text;
  for (auto item = items.begin(); item != items.end(); ++item) {
    const auto same = [&](const TrackedItem& other) { return other.name == item->name; };
    if (std::any_of(item + 1, items.end(), same)) continue;
    if (!text.empty()) text += ',';
    text += json(std::string_view(item->name)) + ':' + json(item->value);
  }
  return text;
}

}  // namespace muster::tracking
