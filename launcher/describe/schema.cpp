#include "describe/schema.hpp"

#include <muster/setting.hpp>

#include "text.hpp"

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <limits>
#include <variant>

namespace muster::launcher {
namespace {

using Json = nlohmann::ordered_json;

struct ToJson {
  Json operator()(std::monostate) const { return "none"; }
  Json operator()(Auto) const { return "auto"; }
  template <class T>
  Json operator()(const T& value) const {
    return value;
  }
};

Json of_type(const char* type) { return {{"type", type}}; }

Json number(const Setting& row, const char* type) {
  using Limits = std::numeric_limits<double>;
  Json json = of_type(type);
  // Whole limits are written so; all are small enough for that.
  const auto limit = [](double value) {
    return value == std::floor(value) ? Json(static_cast<std::int64_t>(value)) : Json(value);
  };
  if (row.minimum > Limits::lowest()) json["minimum"] = limit(row.minimum);
  if (row.maximum < Limits::max()) json["maximum"] = limit(row.maximum);
  return json;
}

/// The forms that a value may have in a file.
std::vector<Json> forms_of(const Setting& row) {
  std::vector<Json> words{of_type("string")};
  if (row.integers) words.push_back(of_type("integer"));
  switch (row.member.kind) {
    case ValueKind::boolean:
      return {of_type("boolean")};
    case ValueKind::integer:
      return {number(row, "integer")};
    case ValueKind::number:
    case ValueKind::seconds:
      return {number(row, "number")};
    case ValueKind::text:
      if (row.choices.empty()) return words;
      return {Json{{"enum", split(row.choices, ' ')}}};
    case ValueKind::list: {
      Json array = of_type("array");
      array["items"] = words.size() == 1 ? words.front() : Json{{"anyOf", words}};
      if (!row.choices.empty()) array["items"] = Json{{"enum", split(row.choices, ' ')}};
      words.insert(words.begin(), array);
      return words;
    }
    case ValueKind::map:
      return {Json{{"type", "object"}, {"additionalProperties", of_type("string")}}};
  }
  return {};
}

std::string description_of(const Setting& row) {
  std::string text(row.help);
  if (!row.expects.empty()) text += fmt::format(" Expected: {}.", row.expectation());
  if (!row.unit.empty()) text += fmt::format(" In {}.", row.unit);
  return text;
}

Json schema_of(const Setting& row) {
  auto forms = forms_of(row);
  if (row.member.allows_auto) forms.push_back({{"const", "auto"}});
  if (row.member.allows_none) forms.push_back({{"const", "none"}});
  Json json{{"description", description_of(row)}};
  const auto value = row.default_value();
  if (value != Value() || row.member.allows_none) json["default"] = std::visit(ToJson(), value);
  if (forms.size() == 1) {
    json.update(forms.front());
  } else {
    json["anyOf"] = forms;
  }
  return json;
}

Json object() { return {{"type", "object"}, {"additionalProperties", false}}; }

}  // namespace

std::string settings_schema() {
  Json schema{{"$schema", "http://json-schema.org/draft-07/schema#"},
              {"title", "Settings of muster"}};
  schema.update(object());
  for (const auto& row : settings_table()) {
    auto& section = schema["properties"][std::string(row.section)];
    if (section.is_null()) section = object();
    section["properties"][std::string(row.key)] = schema_of(row);
  }
  return schema.dump(2) + "\n";
}

}  // namespace muster::launcher
