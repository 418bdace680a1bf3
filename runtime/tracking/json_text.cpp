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
  if (const auto* text = value.text()) return json(std::string_view(*text));
  if (const auto* real = std::get_if<double>(&value.get())) return json(*real);
  return value_text(value);
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
