#include <muster/prometheus.hpp>
#include <muster/replace_file.hpp>

#include <cctype>
#include <charconv>
#include <cmath>
#include <utility>

namespace muster {
namespace {

/// [a-zA-Z_:][a-zA-Z0-9_:]*
std::string metric_name(std::string_view name) {
  std::string text;
  for (const char letter : name) {
    const auto byte = static_cast<unsigned char>(letter);
    const bool allowed = byte < 0x80 && (std::isalnum(byte) != 0 || letter == '_' || letter == ':');
    text += allowed ? letter : '_';
  }
  if (text.empty() || std::isdigit(static_cast<unsigned char>(text.front())) != 0)
    text = "_" + text;
  return text;
}

std::string label_text(std::string_view text) {
  std::string result = "\"";
  for (const char letter : text) {
    if (letter == '\n') {
      result += "\\n";
      continue;
    }
    if (letter == '"' || letter == '\\') result += '\\';
    result += letter;
  }
  return result + '"';
}

std::string number_text(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

}  // namespace

PrometheusTracker::PrometheusTracker(std::filesystem::path path, PrometheusOptions options)
    : path_(std::move(path)), options_(std::move(options)) {}

void PrometheusTracker::start(const TrackedRun& run) {
  project_ = run.project;
  write();
}

void PrometheusTracker::log(const TrackedRecord& record) {
  const auto keep = [&](const std::string& name, double value) {
    values_[metric_name(options_.prefix + name)][name] = value;
  };
  keep("step", static_cast<double>(record.step));
  keep("time_seconds", record.time);
  for (const auto& [name, value] : record.items) {
    if (value.is_number()) keep(name, value.number());
  }
  if (Clock::now() - written_ >= options_.interval) write();
}

void PrometheusTracker::write() {
  std::string text;
  for (const auto& [metric, samples] : values_) {
    text += "# TYPE " + metric + " gauge\n";
    for (const auto& [name, value] : samples) {
      text += metric + "{project=" + label_text(project_) + ",name=" + label_text(name) + "} " +
              number_text(value) + '\n';
    }
  }
  replace_file(path_, text);
  written_ = Clock::now();
}

}  // namespace muster
