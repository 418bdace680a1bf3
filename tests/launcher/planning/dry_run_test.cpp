// What a dry run says, and what then happens.

#include "launcher/supervise/launch_run.hpp"

#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>

#include <fstream>
#include <set>

using nlohmann::json;

namespace muster::test {
namespace {

using Words = std::vector<std::string>;
using Variables = std::map<std::string, std::string>;

const Words program_words{"", "two words", "it's", "$HOME;`x`", "line\nbreak", "a=b", "\\"};

/// The words of a launch of the probe, with what dry runs and launches have in common.
Words launch_words(Words flags) {
  flags.insert(flags.begin(), {"--devices", "cpu", "-n", "3", "--bind", "core", "--env",
                               "GREETING=hello 'world'", "--unset-env", "REMOVED"});
  flags.insert(flags.end(), {"--", probe_program()});
  flags.insert(flags.end(), program_words.begin(), program_words.end());
  return flags;
}

LaunchRun::Options surroundings() {
  LaunchRun::Options options;
  options.environment = {
      {"REMOVED", "x"}, {"RANK", "5"}, {"MUSTER_CONTROL_FD", "77"}, {"KEPT", "1"}};
  return options;
}

json rank_of(const LaunchRun& run, int rank) {
  return json::parse(file_text(run.path("rank_" + std::to_string(rank) + ".json")));
}

/// The variables of a rank, less those that are only known at the start, and the test's own.
Variables known_variables(const json& rank, const json& plan) {
  auto variables = rank["env"].get<Variables>();
  for (const auto& name : plan["decided_at_start"]) variables.erase(name.get<std::string>());
  for (const auto* name : {"OUT", "MARK", "PWD", "OLDPWD", "SHLVL", "_"}) variables.erase(name);
  std::erase_if(variables, [](const auto& one) { return one.first.starts_with("MUSTER_TEST"); });
  return variables;
}

void check_rank(const json& rank, const json& planned, const json& plan) {
  CAPTURE(planned["rank"]);
  CHECK(rank["argv"] == planned["argv"]);
  CHECK(rank["cpus"] == planned["cpus"]);
  const auto variables = known_variables(rank, plan);
  const auto set = planned["set"].get<Variables>();
  for (const auto& [name, value] : set) {
    CAPTURE(name);
    REQUIRE(variables.contains(name));
    CHECK(variables.at(name) == value);
  }
  for (const auto& name : plan["unset"]) CHECK_FALSE(variables.contains(name.get<std::string>()));
  CHECK(variables.at("KEPT") == "1");
}

}  // namespace

TEST_CASE("A launch does what its dry run says, and so does the script") {
  LaunchRun dry(launch_words({"--dry-run=json"}), surroundings());
  const auto planned = dry.wait();
  REQUIRE(planned.code == 0);
  CHECK(planned.err.empty());
  const auto plan = json::parse(planned.out);
  REQUIRE(plan["ranks"].size() == 3);
  CHECK(plan["unset"] == json({"REMOVED"}));

  LaunchRun real(launch_words({}), surroundings());
  CHECK(real.wait().code == 0);

  LaunchRun printed(launch_words({"--dry-run=sh"}), surroundings());
  const auto script = printed.wait();
  REQUIRE(script.code == 0);
  std::ofstream(printed.path("plan.sh")) << script.out;
  // As a program that muster starts it has a folder of its own for what the probes write.
  LaunchRun outer({"-n", "1", "--", "env", "-u", "MUSTER_EXPORTED", "sh", printed.path("plan.sh")},
                  surroundings());
  CHECK(outer.wait().code == 0);

  for (int rank = 0; rank < 3; ++rank) {
    const auto& promised = plan["ranks"][static_cast<std::size_t>(rank)];
    check_rank(rank_of(real, rank), promised, plan);
    check_rank(rank_of(outer, rank), promised, plan);
    // And nothing that was not promised.
    auto found = known_variables(rank_of(real, rank), plan);
    for (const auto& [name, value] : promised["set"].items()) found.erase(name);
    for (const auto& [name, value] : found) {
      CAPTURE(name);
      CHECK_FALSE(name.starts_with("TORCH"));
      CHECK_FALSE(name.starts_with("MUSTER"));
      CHECK_FALSE(name.starts_with("HWLOC"));  // The launcher sets some for itself.
    }
  }
}

TEST_CASE("The script runs one rank, hands on its code, and knows no other") {
  const Words words{"--devices", "cpu",          "-n",
                    "2",         "--dry-run=sh", "--",
                    "sh",        "-c",           "echo rank $RANK; exit $((RANK * 7))"};
  LaunchRun printed(words);
  const auto script = printed.wait();
  REQUIRE(script.code == 0);
  std::ofstream(printed.path("plan.sh")) << script.out;
  const auto run = [&](Words more) {
    Words all{"--devices", "cpu", "-n", "1", "--", "sh", printed.path("plan.sh")};
    all.insert(all.end(), more.begin(), more.end());
    return launch(all);
  };
  CHECK(run({}).code == 7);
  CHECK(run({"0"}).code == 0);
  CHECK(run({"0"}).out == "rank 0\n");
  CHECK(run({"1"}).code == 7);
  CHECK(run({"2"}).code == 2);
  CHECK(run({"x"}).err.find("no rank 'x': 0 to 1") != std::string::npos);
}

TEST_CASE("Secrets are in no form of a dry run") {
  for (const std::string form : {"--dry-run", "--dry-run=text", "--dry-run=json", "--dry-run=sh"}) {
    const auto end =
        launch({"--devices", "cpu", "-n", "1", "--env", "MY_TOKEN=hunter2", form, "--", "true"});
    CAPTURE(form);
    CHECK(end.code == 0);
    CHECK(end.out.find("MY_TOKEN") != std::string::npos);
    CHECK(end.out.find("hunter2") == std::string::npos);
  }
}

TEST_CASE("Forms of a dry run") {
  CHECK(launch({"--dry-run=yaml", "--", "true"}).err ==
        "muster: --dry-run=yaml: expected text, json or sh\n");
  // Without "=" the next word is the program's.
  const auto end = launch({"--devices", "cpu", "-n", "1", "--dry-run", "json"});
  CHECK(end.out.find("\nprogram   json\n") != std::string::npos);
}

TEST_CASE("A port that was asked for is in the plan") {
  const auto end = launch(
      {"--devices", "cpu", "-n", "1", "--master-port", "23456", "--dry-run=json", "--", "true"});
  CHECK(json::parse(end.out)["ranks"][0]["set"]["MASTER_PORT"] == "23456");
}

}  // namespace muster::test
