#include "muster_run.hpp"

#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>

using muster::test::run_muster;
using muster::test::TemporaryFolder;

TEST_CASE("The machine in rows, on stdout") {
  const auto end = run_muster({"env"});
  CHECK(end.code == 0);
  CHECK(end.err.empty());
  CHECK(end.out.starts_with("muster 0.1.0   "));
  for (const auto* label : {"\ncpu ", "\nmemory ", "\ndevices ", "\nnetwork ", "\nscheduler ",
                            "\nlaunch ", "\nports "}) {
    CAPTURE(label);
    CHECK(end.out.find(label) != std::string::npos);
  }
  CHECK(end.out.find('\x1b') == std::string::npos);
}

TEST_CASE("The machine as JSON") {
  const auto end = run_muster({"env", "--json"}, {{"SLURM_JOB_ID", "17"}, {"MUSTER_FOOBAR", "1"}});
  REQUIRE(end.code == 0);
  CHECK(end.err.find("muster: MUSTER_FOOBAR has no effect: ") == 0);
  const auto json = nlohmann::json::parse(end.out);
  CHECK(json["cpu"]["usable"] >= 1);
  CHECK(json["memory"]["total_bytes"] > 0);
  CHECK(json["launch"]["ranks"] >= 1);
  CHECK(json["scheduler"] == "Slurm job 17 (SLURM_JOB_ID)");
}

TEST_CASE("A wrong settings file does not hide the machine") {
  const TemporaryFolder folder;
  folder.write("muster.toml", "[launch]\nthreads = \"many\"\n");
  const auto end = run_muster({"env"}, folder);
  CHECK(end.code == 0);
  CHECK(end.out.find("\ncpu ") != std::string::npos);
  CHECK(end.out.find("launch    muster.toml:2: ") != std::string::npos);
}
