#include "check/findings.hpp"

#include "check/findings_text.hpp"
#include "launcher/temporary_folder.hpp"

#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>

#include <sstream>
#include <string>
#include <vector>

using muster::launcher::CheckResult;
using muster::launcher::compare_with_plan;
using muster::launcher::Findings;
using muster::launcher::findings_json;
using muster::launcher::findings_text;
using muster::launcher::Plan;
using muster::launcher::read_findings;
using muster::launcher::Screen;
using muster::test::TemporaryFolder;

namespace {

constexpr const char* head =
    "{\"checks\":[\"hardware\",\"broadcast\",\"training\"]}\n"
    "{\"facts\":{\"cpus\":[0,1],\"threads\":2,\"device\":\"cpu\",\"libtorch\":\"2.11.0\"}}\n"
    "{\"begin\":\"hardware\"}\n"
    "{\"end\":\"hardware\",\"looked_at\":\"threads\",\"seconds\":0.004,\"fault_count\":0,"
    "\"faults\":[],\"not_checked\":[\"GPUs: none\"]}\n"
    "{\"begin\":\"broadcast\"}\n";
constexpr const char* well =
    "{\"end\":\"broadcast\",\"looked_at\":\"2 roots\",\"seconds\":0.5,\"fault_count\":0,"
    "\"faults\":[],\"not_checked\":[]}\n";
constexpr const char* fault =
    "{\"end\":\"broadcast\",\"looked_at\":\"2 "
    "roots\",\"seconds\":0.25,\"fault_count\":5,\"faults\":"
    "[{\"where\":\"from rank 0\",\"expected\":\"1.5\",\"found\":\"2\"}],\"not_checked\":[]}\n";
constexpr const char* end_of_training =
    "{\"begin\":\"training\"}\n"
    "{\"end\":\"training\",\"looked_at\":\"\",\"seconds\":0,\"fault_count\":0,\"faults\":[],"
    "\"not_checked\":[\"training: this build has no strategy\"]}\n";

Plan plan_of(const TemporaryFolder& folder, int ranks) {
  Plan plan;
  plan.run_directory = folder.path();
  for (int rank = 0; rank < ranks; ++rank) {
    auto& spec = plan.ranks.emplace_back();
    spec.world.rank = spec.world.local_rank = rank;
    spec.world.size = ranks;
    spec.threads = 2;
    spec.device = "cpu";
    spec.host = "a";
  }
  return plan;
}

std::string text_of(const Findings& findings, const Plan& plan) {
  return findings_text(findings, plan, 2, Screen());
}

}  // namespace

TEST_CASE("Checks that are well on all ranks") {
  const TemporaryFolder folder;
  const auto plan = plan_of(folder, 2);
  for (const auto* name : {"check-0.jsonl", "check-1.jsonl"}) {
    folder.write(name, std::string(head) + well + end_of_training + "{\"faulty\":[]}\n");
  }
  auto findings = read_findings(plan);
  compare_with_plan(plan, findings);
  CHECK(findings.all_ok());
  CHECK(text_of(findings, plan) ==
        "check      result       time    what was checked\n"
        "hardware   ok           4 ms    threads\n"
        "broadcast  ok           500 ms  2 roots\n"
        "training   not checked  0 ms    this build has no strategy\n"
        "not checked  GPUs: none\n"
        "2 checks ok on 2 ranks in 2.0 s\n");
}

TEST_CASE("A fault of one rank has the rank, the place, and both values") {
  const TemporaryFolder folder;
  const auto plan = plan_of(folder, 2);
  folder.write("check-0.jsonl", std::string(head) + well + end_of_training + "{\"faulty\":[1]}\n");
  folder.write("check-1.jsonl", std::string(head) + fault + end_of_training + "{\"faulty\":[1]}\n");
  const auto findings = read_findings(plan);
  CHECK_FALSE(findings.all_ok());
  const auto text = text_of(findings, plan);
  CHECK(text.find("broadcast  FAULT        500 ms  2 roots\n"
                  "           rank 1  from rank 0\n"
                  "                   expected  1.5\n"
                  "                   found     2\n"
                  "           and 4 more\n") != text.npos);
  CHECK(text.ends_with("1 of 2 checks ok on 2 ranks in 2.0 s; faults: broadcast on rank 1\n"));
  const auto json = nlohmann::json::parse(findings_json(findings, plan, 2, "ok"));
  CHECK(json["ok"] == false);
  CHECK(json["checks"][1]["result"] == "fault");
  CHECK(json["checks"][1]["faults"][0]["rank"] == 1);
  CHECK(json["ranks"][1]["libtorch"] == "2.11.0");
}

TEST_CASE("Ranks that died: which check was under way, and half a line is no harm") {
  const TemporaryFolder folder;
  const auto plan = plan_of(folder, 3);
  folder.write("check-0.jsonl", head);
  folder.write("check-1.jsonl", std::string(head) + "{\"end\":\"broad");
  const auto findings = read_findings(plan);
  CHECK_FALSE(findings.all_ok());
  CHECK(findings.unfinished == std::vector<int>{0, 1, 2});
  CHECK(findings.rows[1].result() == CheckResult::under_way);
  CHECK(findings.rows[2].result() == CheckResult::not_made);
  CHECK(muster::launcher::checks_under_way(findings) ==
        std::vector<std::string>{"the check 'broadcast' was under way on ranks 0-1"});
  const auto text = text_of(findings, plan);
  CHECK(text.find("broadcast  UNDER WAY            when the job ended, on ranks 0-1\n") !=
        text.npos);
  CHECK(text.ends_with("1 of 3 checks ok on 3 ranks in 2.0 s\n"));
}

TEST_CASE("What ranks have is compared with the plan") {
  const TemporaryFolder folder;
  auto plan = plan_of(folder, 1);
  plan.ranks[0].threads = 3;
  plan.ranks[0].cpus = {1};
  plan.ranks[0].device = "GPU-1";
  folder.write("check-0.jsonl", std::string(head) + well + end_of_training + "{\"faulty\":[]}\n");
  auto findings = read_findings(plan);
  CHECK(findings.all_ok());
  compare_with_plan(plan, findings);
  CHECK_FALSE(findings.all_ok());
  const auto& row = findings.rows[0];
  REQUIRE(row.faults.size() == 2);
  CHECK(row.faults[0].expected == "3, as planned");
  CHECK(row.faults[0].found == "2");
  CHECK(row.faults[1].expected == "1, as planned");
  CHECK(row.faults[1].found == "0-1");
  CHECK(row.not_checked.back() == "device GPU-1 of rank 0: the runtime computes on the CPU");
}

TEST_CASE("Nothing was found: no table, and that is not well") {
  const TemporaryFolder folder;
  const auto plan = plan_of(folder, 1);
  const auto findings = read_findings(plan);
  CHECK(text_of(findings, plan).empty());
  CHECK_FALSE(findings.all_ok());
}

TEST_CASE("Faults on another host are named, and the table stays within the screen") {
  const TemporaryFolder folder;
  auto plan = plan_of(folder, 1);
  auto lines = std::string(head) + well + end_of_training + "{\"faulty\":[5,6]}\n";
  lines.replace(lines.find("2 roots"), 7, std::string(40, 'x') + " " + std::string(40, 'y'));
  folder.write("check-0.jsonl", lines);
  plan.ranks[0].world.size = 7;
  const auto findings = read_findings(plan);
  CHECK_FALSE(findings.all_ok());
  const auto text = text_of(findings, plan);
  CHECK(text.find("on 1 of 7 ranks in 2.0 s; ") != text.npos);
  CHECK(text.find("ranks 5-6 on another host\n") != text.npos);
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) CHECK(line.size() <= 80);
}
