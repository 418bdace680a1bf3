#include "muster_run.hpp"

#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>

using muster::test::run_muster;
using muster::test::TemporaryFolder;

TEST_CASE("Settings are shown as TOML, with their origins if asked") {
  const TemporaryFolder folder;
  folder.write("muster.toml", "[launch]\nnum_processes = 4\n");
  const auto plain = run_muster({"config", "show"}, folder);
  CHECK(plain.code == 0);
  CHECK(plain.out.find("num_processes = 4\n") != std::string::npos);
  const auto end = run_muster({"config", "show", "--origin", "--threads", "3"}, folder,
                              {{"MUSTER_TRAIN_SEED", "7"}});
  CHECK(end.err == "muster: settings from ./muster.toml\n");
  const auto has = [&](const std::string& setting, const std::string& origin) {
    const auto at = end.out.find(setting);
    CAPTURE(setting, end.out);
    REQUIRE(at != std::string::npos);
    const auto line = end.out.substr(at, end.out.find('\n', at) - at);
    CHECK(line.ends_with(" " + origin));
  };
  has("num_processes = 4", "muster.toml:2");
  has("threads = 3", "--threads");
  has("seed = 7", "MUSTER_TRAIN_SEED");
  has("strategy = \"auto\"", "built-in");
}

TEST_CASE("Settings as JSON, with what they hide") {
  const TemporaryFolder folder;
  folder.write("muster.toml",
               "[launch]\nnum_processes = 4\n\n[launch.env]\nMY_TOKEN = \"x\"\nA = \"b\"\n");
  const auto end = run_muster({"config", "show", "--json", "-n", "2"}, folder);
  REQUIRE(end.code == 0);
  nlohmann::json found, env;
  for (const auto& row : nlohmann::json::parse(end.out)) {
    if (row["setting"] == "launch.num_processes") found = row;
    if (row["setting"] == "launch.env") env = row;
  }
  CHECK(found["value"] == 2);
  CHECK(found["origin"] == "-n");
  CHECK(found["hides"][0]["value"] == 4);
  CHECK(found["hides"][0]["origin"] == "muster.toml:2");
  CHECK(env["value"]["A"] == "b");
  CHECK(env["value"]["MY_TOKEN"] == "(hidden)");
}

TEST_CASE("What has no effect is told on stderr") {
  const auto end = run_muster({"config", "show", "--standalone"}, {{"MUSTER_FOOBAR", "1"}});
  CHECK(end.code == 0);
  CHECK(end.err.find("muster: --standalone has no effect: ") == 0);
  CHECK(end.err.find("muster: MUSTER_FOOBAR has no effect: ") != std::string::npos);
  CHECK(end.out.find("no effect") == std::string::npos);
}

TEST_CASE("Wrong settings are told, all at once") {
  const TemporaryFolder folder;
  folder.write("muster.toml", "[launch]\nnum_proceses = 4\ndevices = 0.5\n");
  const auto end = run_muster({"config", "show"}, folder);
  CHECK(end.code == 2);
  CHECK(end.out.empty());
  CHECK(end.err.find("muster.toml:2: ") != std::string::npos);
  CHECK(end.err.find("did you mean 'num_processes'?") != std::string::npos);
  CHECK(end.err.find("muster.toml:3: ") != std::string::npos);
}
