#include "describe/schema.hpp"

#include <muster/error.hpp>
#include <muster/setting.hpp>

#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>

using muster::Setting;
using nlohmann::json;

namespace {

bool has_type(const json& value, const std::string& type) {
  if (type == "string") return value.is_string();
  if (type == "boolean") return value.is_boolean();
  if (type == "integer") return value.is_number_integer();
  if (type == "number") return value.is_number();
  if (type == "array") return value.is_array();
  if (type == "object") return value.is_object();
  FAIL("a type that JSON schemas do not have: " + type);
  return false;
}

/// As much of JSON Schema as ours uses; an unknown word is a failure.
bool accepts(const json& schema, const json& value) {
  for (const auto& [word, rule] : schema.items()) {
    if (word == "description" || word == "default" || word == "title" || word == "$schema")
      continue;
    if (word == "type") {
      if (!has_type(value, rule)) return false;
    } else if (word == "enum") {
      if (std::find(rule.begin(), rule.end(), value) == rule.end()) return false;
    } else if (word == "const") {
      if (value != rule) return false;
    } else if (word == "minimum") {
      if (value.is_number() && value < rule) return false;
    } else if (word == "maximum") {
      if (value.is_number() && value > rule) return false;
    } else if (word == "items") {
      for (const auto& item : value) {
        if (value.is_array() && !accepts(rule, item)) return false;
      }
    } else if (word == "anyOf") {
      const bool any = std::any_of(rule.begin(), rule.end(),
                                   [&](const json& one) { return accepts(one, value); });
      if (!any) return false;
    } else if (word == "properties" || word == "additionalProperties") {
      if (!value.is_object()) continue;
      for (const auto& [name, member] : value.items()) {
        const bool known = schema.contains("properties") && schema["properties"].contains(name);
        if (known && word == "properties" && !accepts(rule[name], member)) return false;
        if (known || word == "properties") continue;
        if (rule.is_boolean() ? !rule.get<bool>() : !accepts(rule, member)) return false;
      }
    } else {
      FAIL("a word that this test does not know: " + word);
    }
  }
  return true;
}

const json& schema() {
  static const json parsed = json::parse(muster::launcher::settings_schema());
  return parsed;
}

bool accepts(const std::string& section, const std::string& key, const json& value) {
  return accepts(schema(), json{{section, {{key, value}}}});
}

}  // namespace

TEST_CASE("The schema has every setting, with its help and default, and no other key") {
  CHECK(schema()["$schema"] == "http://json-schema.org/draft-07/schema#");
  std::size_t count = 0;
  for (const auto& [section, rows] : schema()["properties"].items()) {
    count += rows["properties"].size();
  }
  CHECK(count == muster::settings_table().size());
  for (const auto& row : muster::settings_table()) {
    CAPTURE(row.id());
    const auto& entry =
        schema()["properties"][std::string(row.section)]["properties"][std::string(row.key)];
    CHECK(entry["description"].get<std::string>().starts_with(row.help));
    if (entry.contains("default")) {
      CHECK(accepts(std::string(row.section), std::string(row.key), entry["default"]));
    } else {
      CHECK(row.default_value() == muster::Value());
    }
  }
  CHECK_FALSE(accepts("launch", "nothing", 1));
  CHECK_FALSE(accepts(schema(), json{{"nothing", {{"x", 1}}}}));
}

TEST_CASE("The schema takes what a file may say, and refuses what it may not") {
  for (const json& good : {json(4), json("auto")}) CHECK(accepts("launch", "num_processes", good));
  for (const json& bad : {json(0), json("4"), json(1.5), json("none"), json(true)}) {
    CHECK_FALSE(accepts("launch", "num_processes", bad));
  }
  for (const json& good : {json("0,1"), json({"0", 1}), json(0), json("auto")}) {
    CHECK(accepts("launch", "devices", good));
  }
  CHECK_FALSE(accepts("launch", "devices", true));
  CHECK(accepts("launch", "timeout", "none"));
  CHECK(accepts("launch", "timeout", 0.5));
  CHECK_FALSE(accepts("launch", "timeout", 0));
  CHECK(accepts("launch", "env", json{{"A", "1"}}));
  CHECK_FALSE(accepts("launch", "env", json{{"A", 1}}));
  CHECK(accepts("launch", "pin_devices", true));
  CHECK_FALSE(accepts("launch", "pin_devices", "yes"));
  CHECK(accepts("log", "level", "debug"));
  CHECK_FALSE(accepts("log", "level", "loud"));
}
