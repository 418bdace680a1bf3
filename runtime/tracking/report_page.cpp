#include "tracking/report_page.hpp"

#include "tracking/chart.hpp"
#include "tracking/number_text.hpp"
#include "tracking/page_style.hpp"

#include <algorithm>
#include <array>
#include <ctime>
#include <numeric>

namespace muster::tracking {
namespace {

constexpr std::string_view json_begin = "<script type=\"application/json\" id=\"muster-report\">";
constexpr std::string_view json_end = "</script>";

std::string date(double time) {
  const auto seconds = static_cast<std::time_t>(time);
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  std::array<char, 32> text{};
  return {text.data(), std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S UTC", &parts)};
}

/// Losses first, then what the program measures, then how it goes.
int place_of(const std::string& name) {
  if (name.find("loss") != std::string::npos) return 0;
  if (name == "learning_rate" || name == "lr") return 2;
  return name.starts_with("system/") ? 3 : 1;
}

std::vector<std::size_t> order_of(const std::vector<Series>& series) {
  std::vector<std::size_t> order(series.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t at) { return place_of(series[at].name()); });
  return order;
}

std::string note(const Series& series) {
  Bucket all;
  for (const auto& bucket : series.buckets()) all.add(bucket);
  auto text = "last " + short_number(series.newest());
  if (all.count > 0) {
    text +=
        " &middot; least " + short_number(all.least) + " &middot; most " + short_number(all.most);
  }
  if (all.not_finite == 0) return text;
  return text + " &middot; <span class=\"bad\">" + std::to_string(all.not_finite) +
         " not finite, from step " + std::to_string(all.first_not_finite) + "</span>";
}

std::string cards(const Report& report) {
  std::string text = "<div class=\"cards\">\n";
  for (const auto at : order_of(report.series)) {
    const auto& series = report.series[at];
    text += "<section class=\"card\" data-series=\"" + std::to_string(at) + "\">\n<h2>" +
            html(series.name()) + "</h2>\n<p>" + note(series) + "</p>\n" + chart(series) +
            "</section>\n";
  }
  return text + "</div>\n";
}

std::string config_table(const Report& report) {
  if (report.config.empty()) return {};
  std::string text = "<details open><summary>Configuration</summary>\n<table>\n";
  for (const auto& [name, value] : report.config) {
    text += "<tr><th scope=\"row\">" + html(name) + "</th><td>" + html(value_text(value)) +
            "</td></tr>\n";
  }
  return text + "</table></details>\n";
}

std::string texts_table(const Report& report) {
  if (report.texts.empty()) return {};
  std::string text = "<details open><summary>Texts</summary>\n<table>\n";
  for (auto item = report.texts.rbegin(); item != report.texts.rend(); ++item) {
    text += "<tr><th scope=\"row\">" + html(item->name) + "</th><td>step " +
            std::to_string(item->step) + "</td><td>" + html(item->text) + "</td></tr>\n";
  }
  return text + "</table></details>\n";
}

}  // namespace

std::string report_page(const Report& report, double time, bool ended) {
  const auto title = html(report.project);
  return "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
         "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>" +
         title + "</title>\n<style>" + page_style + "</style>\n</head>\n<body>\n<main>\n<h1>" +
         title + "</h1>\n<p>step " + std::to_string(report.last_step) + " &middot; " +
         (ended ? "ended " : "as of ") + date(time) + " &middot; " +
         std::to_string(report.records) + " records</p>\n" + cards(report) + config_table(report) +
         texts_table(report) + "</main>\n" + std::string(json_begin) + to_json(report) +
         std::string(json_end) + "\n<script>" + page_script + "</script>\n</body>\n</html>\n";
}

std::optional<std::string_view> report_in_page(std::string_view page) {
  const auto begin = page.find(json_begin);
  if (begin == std::string_view::npos) return std::nullopt;
  const auto rest = page.substr(begin + json_begin.size());
  const auto end = rest.find(json_end);
  if (end == std::string_view::npos) return std::nullopt;
  return rest.substr(0, end);
}

}  // namespace muster::tracking
