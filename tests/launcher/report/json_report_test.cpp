#include "report/json_report.hpp"

#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>
#include <support/paths.hpp>

#include <chrono>
#include <csignal>
#include <fstream>
#include <iterator>
#include <set>

namespace muster::launcher {

TEST_CASE("The report has the outcome, the first failure and every rank") {
  Plan plan;
  plan.run_id = "cafe0001";
  plan.ranks.resize(2);
  plan.ranks[1].host = "node-a";
  plan.ranks[1].world.local_rank = 1;
  plan.ranks[1].device = "cpu";
  Outcome outcome;
  outcome.kind = OutcomeKind::rank_failed;
  outcome.exit_code = 139;
  RankEnd end;
  end.rank = 1;
  end.pid = 77;
  end.exit_code = 139;
  end.signal = SIGSEGV;
  end.text = "broken \xff text";
  end.last_lines = {"a", "b"};
  outcome.first = end;
  outcome.ranks = {RankEnd{}, end};
  const auto json = nlohmann::json::parse(json_report(outcome, plan, {"muster", "launch", "p"}));
  CHECK(json["outcome"] == "rank_failed");
  CHECK(json["exit_code"] == 139);
  CHECK(json["run_id"] == "cafe0001");
  CHECK(json["command_line"].size() == 3);
  CHECK(json["first_failure"]["rank"] == 1);
  CHECK(json["first_failure"]["signal"] == "SIGSEGV");
  CHECK(json["first_failure"]["host"] == "node-a");
  CHECK(json["first_failure"]["last_lines"].size() == 2);
  CHECK(json["first_failure"]["error"] == "broken \xef\xbf\xbd text");
  REQUIRE(json["ranks"].size() == 2);
  CHECK(json["ranks"][0]["signal"].is_null());
}

/// All keys of an object and of what is in it, by where they are in README.md.
void collect_keys(const nlohmann::json& json, std::set<std::string>& keys) {
  if (json.is_array())
    for (const auto& part : json) collect_keys(part, keys);
  if (!json.is_object()) return;
  for (const auto& [key, part] : json.items()) {
    keys.insert(key);
    collect_keys(part, keys);
  }
}

TEST_CASE("README.md explains every key of a report that has them all") {
  Plan plan;
  plan.run_id = "cafe0001";
  plan.ranks.resize(3);
  for (int rank = 0; rank < 3; ++rank) plan.ranks[static_cast<std::size_t>(rank)].world.rank = rank;
  plan.nodes = {{"a", "10.0.0.1", 0, 3}, {"b", "10.0.0.2", 3, 1}};
  Outcome outcome;
  outcome.kind = OutcomeKind::rank_failed;
  outcome.where = "node 1 (b, 10.0.0.2)";
  outcome.started = std::chrono::system_clock::time_point(std::chrono::milliseconds(1250));
  outcome.seconds = 2;
  outcome.memory = MemoryKills{1, false, 100, "/job", 99};
  outcome.message = "process 17 did not end";
  outcome.signal = SIGTERM;
  outcome.left = {17};
  RankEnd end;
  end.rank = 1;
  end.exit_code = 137;
  end.signal = SIGKILL;
  end.out_of_memory = true;
  end.core = "/tmp/core";
  end.reason = "exception";
  end.text = end.call_stack = "x";
  end.last_lines = {"x"};
  end.stdout_log = "o";
  end.stderr_log = "e";
  end.last.sequence = end.last.step = end.checkpoint = 1;
  RankEnd other;
  other.rank = 2;
  other.exit_code = 143;
  other.stopped_by_us = true;
  outcome.ranks = {RankEnd{}, end, other};
  outcome.first = end;
  outcome.left_early = {0};
  outcome.earlier = {outcome};
  const auto json = nlohmann::json::parse(json_report(outcome, plan, {"muster"}));
  std::set<std::string> keys;
  collect_keys(json, keys);
  std::ifstream file(std::string(muster::test::source_dir) + "/launcher/report/README.md");
  const std::string readme{std::istreambuf_iterator<char>(file), {}};
  for (const auto& key : keys) {
    INFO(key);
    CHECK(readme.find("`" + key + "`") != readme.npos);
  }
  CHECK(json["started"] == "1970-01-01T00:00:01.250Z");
  CHECK(json["ended"] == "1970-01-01T00:00:03.250Z");
  CHECK(json["memory"]["limit"] == 100);
  CHECK(json["first_failure"]["end"] == "out_of_memory");
  CHECK(json["ranks"][0]["end"] == "left_early");
  CHECK(json["consequences"] ==
        nlohmann::json::parse(R"([{"rank": 2, "end": "stopped_by_muster", "exit_code": 143}])"));
}

TEST_CASE("A job that was never started has a report too") {
  Outcome outcome;
  outcome.kind = OutcomeKind::usage;
  outcome.exit_code = 2;
  outcome.message = "unknown option";
  const auto json = nlohmann::json::parse(json_report(outcome, {}, {}));
  CHECK(json["outcome"] == "usage");
  CHECK(json["message"] == "unknown option");
  CHECK(json["ranks"].empty());
}

}  // namespace muster::launcher
