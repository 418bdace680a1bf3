#include "muster_run.hpp"

#include <catch2/catch_test_macros.hpp>

#include <fstream>
#include <iterator>

using muster::test::run_muster;
using muster::test::TemporaryFolder;

namespace {

std::string read(const TemporaryFolder& folder, const std::string& name = "muster.toml") {
  std::ifstream file(folder.path() + "/" + name);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

TEST_CASE("One setting is changed, silently, and taken out again") {
  const TemporaryFolder folder;
  folder.write("muster.toml", "# x\n[launch]\nthreads = 2 # two\n");
  const auto set = run_muster({"config", "set", "launch.threads", "auto"}, folder);
  CHECK(set.code == 0);
  CHECK(set.out + set.err == "");
  CHECK(read(folder) == "# x\n[launch]\nthreads = \"auto\" # two\n");
  CHECK(run_muster({"config", "set", "--unset", "launch.threads"}, folder).code == 0);
  CHECK(read(folder) == "# x\n[launch]\n");
  const auto again = run_muster({"config", "set", "launch.threads", "--unset"}, folder);
  CHECK(again.code == 2);
  CHECK(again.err == "muster: ./muster.toml does not set launch.threads\n");
}

TEST_CASE("A new file is told, and so is what else had to go") {
  const TemporaryFolder folder;
  const auto made = run_muster({"config", "set", "launch.nproc_per_node", "2"}, folder);
  CHECK(made.err == "muster: ./muster.toml is new\n");
  const auto rival = run_muster({"config", "set", "launch.num_processes", "4"}, folder);
  CHECK(rival.err == "muster: launch.nproc_per_node, which decides the same thing, is taken out\n");
  CHECK(read(folder) == "[launch]\nnum_processes = 4\n");
}

TEST_CASE("Single variables of ranks are set and taken out") {
  const TemporaryFolder folder;
  run_muster({"config", "set", "launch.env", "A=1"}, folder);
  run_muster({"config", "set", "launch.env.B", "-2", "--"}, folder);
  run_muster({"config", "set", "launch.env.B", "--", "-2"}, folder);
  CHECK(read(folder) == "[launch]\nenv = { A = \"1\", B = \"-2\" }\n");
  CHECK(run_muster({"config", "get", "launch.env"}, folder).out == "A=1\nB=-2\n");
  run_muster({"config", "set", "launch.env.A", "--unset"}, folder);
  CHECK(read(folder) == "[launch]\nenv = { B = \"-2\" }\n");
}

TEST_CASE("Another file, and that of all jobs") {
  const TemporaryFolder folder;
  const std::map<std::string, std::string> home{{"XDG_CONFIG_HOME", folder.path() + "/home"}};
  CHECK(run_muster({"config", "set", "train.seed", "1", "--config", "job.toml"}, folder).code == 0);
  CHECK(run_muster({"config", "set", "train.seed", "2", "--user"}, folder, home).code == 0);
  CHECK(read(folder, "job.toml") == "[train]\nseed = 1\n");
  CHECK(run_muster({"config", "get", "train.seed"}, folder, home).out == "2\n");
  CHECK(run_muster({"config", "get", "train.seed", "--config", "job.toml"}, folder, home).out ==
        "1\n");
  CHECK(run_muster({"config", "get", "train.seed", "--no-config"}, folder, home).out == "42\n");
}

TEST_CASE("Wrong keys and values change nothing") {
  const TemporaryFolder folder;
  const auto refuses = [&](const std::vector<std::string>& words, const std::string& part) {
    const auto end = run_muster(words, folder);
    CAPTURE(words, end.err);
    CHECK(end.code == 2);
    CHECK(end.err.find(part) != std::string::npos);
    CHECK(read(folder).empty());
  };
  refuses({"config", "set", "launch.treads", "2"}, "did you mean launch.threads?");
  refuses({"config", "set", "launch.threads", "0"}, "expected a whole number of at least 1");
  refuses({"config", "set", "launch.threads"}, "needs a key and its value");
  refuses({"config", "set", "launch.threads", "1", "2"}, "needs a key and its value");
  refuses({"config", "set", "launch.threads", "1", "--unset"}, "needs a key and its value");
  refuses({"config", "get"}, "needs one key");
  refuses({"config", "get", "launch.env.A"}, "launch.env has no 'A'");
}

TEST_CASE("Values are printed as they are typed, secrets only to who names them") {
  const TemporaryFolder folder;
  folder.write("muster.toml",
               "[launch]\ndevices = [0, 2]\nenv = { MY_TOKEN = 'hush' }\ntimeout = 90\n");
  const auto get = [&](const std::string& key) {
    return run_muster({"config", "get", key}, folder).out;
  };
  CHECK(get("launch.devices") == "0,2\n");
  CHECK(get("launch.timeout") == "90\n");
  CHECK(get("launch.pin_devices") == "false\n");
  CHECK(get("launch.nproc_per_node") == "\n");
  CHECK(get("launch.env") == "MY_TOKEN=(hidden)\n");
  CHECK(get("launch.env.MY_TOKEN") == "hush\n");
}

TEST_CASE("A file is checked alone, and all its faults are told at once") {
  const TemporaryFolder folder;
  folder.write("good.toml", "[train]\nseed = 1\n");
  folder.write("bad.toml",
               "[launch]\nnum_proceses = 4\nnum_processes = 2\nnproc_per_node = 2\ngrace = true\n");
  const auto good =
      run_muster({"config", "check", "good.toml"}, folder, {{"MUSTER_LOG_LEVEL", "x"}});
  CHECK(good.code == 0);
  CHECK(good.out == "good.toml: no fault, 1 setting\n");
  const auto bad = run_muster({"config", "check", "bad.toml"}, folder);
  CHECK(bad.code == 2);
  CHECK(bad.err.find("bad.toml:2: unknown key 'num_proceses'") != std::string::npos);
  CHECK(bad.err.find("bad.toml:5: launch.grace = true: expected") != std::string::npos);
  CHECK(bad.err.find("bad.toml:4: launch.") != std::string::npos);
  const auto none = run_muster({"config", "check"}, folder);
  CHECK(none.code == 2);
  CHECK(none.err == "muster: muster.toml: no such file\n");
}
