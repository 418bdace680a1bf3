#include <muster/prometheus.hpp>

#include <catch2/catch_test_macros.hpp>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <unistd.h>

namespace {

/// Values by series. Fails the test where a line is not of the text format.
std::map<std::string, double> read_metrics(const std::filesystem::path& path) {
  static const std::regex type(R"(# TYPE ([a-zA-Z_:][a-zA-Z0-9_:]*) gauge)");
  static const std::regex sample(
      R"(([a-zA-Z_:][a-zA-Z0-9_:]*)(\{[a-z]+="([^"\\\n]|\\["\\n])*"(,[a-z]+="([^"\\\n]|\\["\\n])*")*\}) (\S+))");
  std::map<std::string, double> values;
  std::set<std::string> types;
  std::string present;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    CAPTURE(line);
    std::smatch match;
    if (std::regex_match(line, match, type)) {
      present = match[1];
      CHECK(types.insert(present).second);  // Each metric's samples stand together.
      continue;
    }
    REQUIRE(std::regex_match(line, match, sample));
    CHECK(match[1] == present);
    CHECK(values.emplace(match[1].str() + match[2].str(), std::stod(match[6])).second);
  }
  return values;
}

}  // namespace

TEST_CASE("the newest numbers stand in a Prometheus text file") {
  const auto folder =
      std::filesystem::temp_directory_path() / ("muster-prometheus-" + std::to_string(getpid()));
  std::filesystem::create_directory(folder);
  const auto path = folder / "train.prom";
  muster::PrometheusTracker tracker(path, {.interval = std::chrono::seconds(0)});
  tracker.start({.project = "a \"b\"\n", .config = {}, .folder = {}});
  CHECK(read_metrics(path).empty());
  tracker.log({1, 5.5, {{"loss", 0.5}, {"note", "text"}, {"9/x y", 3}}});
  tracker.log({2, 6.5, {{"loss", std::numeric_limits<double>::quiet_NaN()}, {"9.x.y", true}}});
  tracker.log({3, 7.5, {{"inf", -std::numeric_limits<double>::infinity()}}});
  const auto values = read_metrics(path);
  const auto of = [&](const std::string& metric, const std::string& name) {
    return values.at(metric + R"({project="a \"b\"\n",name=")" + name + "\"}");
  };
  CHECK(values.size() == 6);
  CHECK(of("muster_step", "step") == 3);
  CHECK(of("muster_time_seconds", "time_seconds") == 7.5);
  CHECK(std::isnan(of("muster_loss", "loss")));
  CHECK(of("muster_9_x_y", "9/x y") == 3);
  CHECK(of("muster_9_x_y", "9.x.y") == 1);
  CHECK(of("muster_inf", "inf") == -std::numeric_limits<double>::infinity());
  // Whole at every moment, and nothing beside it.
  CHECK(std::distance(std::filesystem::directory_iterator(folder), {}) == 1);
  std::filesystem::remove_all(folder);
}

TEST_CASE("a Prometheus file is not written more often than asked, but at the end") {
  const auto path = std::filesystem::temp_directory_path() /
                    ("muster-prometheus-" + std::to_string(getpid()) + ".prom");
  muster::PrometheusTracker tracker(path, {.prefix = "", .interval = std::chrono::hours(1)});
  tracker.start({.project = "p", .config = {}, .folder = {}});
  tracker.log({1, 0, {{"loss", 2}}});
  CHECK(read_metrics(path).empty());
  tracker.finish();
  CHECK(read_metrics(path).size() == 3);
  std::filesystem::remove(path);
}
