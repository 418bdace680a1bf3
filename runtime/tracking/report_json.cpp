#include "tracking/report.hpp"

#include <nlohmann/json.hpp>

#include <limits>

namespace muster::tracking {
namespace {

using Json = nlohmann::json;

Json to_json(const TrackedValue& value) {
  return std::visit([](const auto& held) { return Json(held); }, value.get());
}

TrackedValue value_from(const Json& json) {
  if (json.is_boolean()) return json.get<bool>();
  if (json.is_number_integer()) return json.get<std::int64_t>();
  if (json.is_string()) return json.get<std::string>();
  // A number that is none was written as null.
  return json.is_number() ? json.get<double>() : std::numeric_limits<double>::quiet_NaN();
}

Json to_json(const Series& series) {
  Json buckets = Json::array();
  for (const auto& bucket : series.buckets()) {
    buckets.push_back({bucket.first, bucket.last, bucket.count, bucket.not_finite, bucket.mean,
                       bucket.least, bucket.most, bucket.first_not_finite});
  }
  return {{"name", series.name()}, {"newest", series.newest()}, {"buckets", buckets}};
}

Series series_from(const Json& json) {
  std::vector<Bucket> buckets;
  for (const auto& bucket : json.at("buckets")) {
    buckets.push_back({bucket.at(0), bucket.at(1), bucket.at(2), bucket.at(3),
                       value_from(bucket.at(4)).number(), value_from(bucket.at(5)).number(),
                       value_from(bucket.at(6)).number(), bucket.at(7)});
  }
  return {json.at("name"), std::move(buckets), value_from(json.at("newest")).number()};
}

}  // namespace

std::string to_json(const Report& report) {
  Json config = Json::array(), series = Json::array(), texts = Json::array();
  for (const auto& [name, value] : report.config) config.push_back({name, to_json(value)});
  for (const auto& curve : report.series) series.push_back(to_json(curve));
  for (const auto& text : report.texts) texts.push_back({text.step, text.name, text.text});
  const Json all{{"project", report.project}, {"config", config},
                 {"series", series},          {"texts", texts},
                 {"records", report.records}, {"last_step", report.last_step}};
  const auto text = all.dump(-1, ' ', false, Json::error_handler_t::replace);
  std::string escaped;
  // Nothing in it may end the element that it stands in.
  for (const char letter : text) {
    if (letter == '<') {
      escaped += "\\u003c";
    } else {
      escaped += letter;
    }
  }
  return escaped;
}

Report report_from_json(std::string_view text) {
  const auto json = Json::parse(text);
  Report report;
  report.project = json.at("project");
  for (const auto& item : json.at("config")) {
    report.config.push_back({item.at(0), value_from(item.at(1))});
  }
  for (const auto& curve : json.at("series")) report.series.push_back(series_from(curve));
  for (const auto& item : json.at("texts")) {
    report.texts.push_back({item.at(0), item.at(1), item.at(2)});
  }
  report.records = json.at("records");
  report.last_step = json.at("last_step");
  return report;
}

}  // namespace muster::tracking
