#include "muster_run.hpp"

#include <catch2/catch_test_macros.hpp>

#include <filesystem>
#include <fstream>
#include <iterator>

using muster::test::run_muster;
using muster::test::TemporaryFolder;

namespace {

const std::map<std::string, std::string> no_devices{{"CUDA_VISIBLE_DEVICES", ""}};

std::string read(const TemporaryFolder& folder, const std::string& name = "muster.toml") {
  std::ifstream file(folder.path() + "/" + name);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::size_t files_in(const TemporaryFolder& folder) {
  const std::filesystem::directory_iterator all(folder.path());
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

/// Enough empty answers for all questions that may follow.
const std::string enters(40, '\n');

}  // namespace

TEST_CASE("The wizard writes what was answered, shows it and the command, and offers it again") {
  const TemporaryFolder folder;
  const auto end = run_muster({"config"}, folder, no_devices, "2\n" + enters);
  CAPTURE(end.err);
  CHECK(end.code == 0);
  CHECK(read(folder) == "[launch]\nnum_processes = 2\n");
  CHECK(end.out == read(folder));
  CHECK(end.err.starts_with("Found: "));
  CHECK(end.err.ends_with("Written to ./muster.toml. Run:  muster launch -- ./your_program\n"));
  CHECK(end.err.find('\x1b') == std::string::npos);
  const auto plan = run_muster({"launch", "--dry-run", "--", "true"}, folder, no_devices);
  CHECK(plan.out.find("2 ranks") != std::string::npos);
  const auto again = run_muster({"config"}, folder, no_devices, enters);
  CHECK(again.code == 0);
  CHECK(again.err.find("[2] ") != std::string::npos);
  CHECK(again.err.find("Nothing new for ./muster.toml") != std::string::npos);
}

TEST_CASE("An end of the input or a wrong answer leaves the old file whole") {
  const TemporaryFolder folder;
  const std::string before = "# mine\n[launch]\nnum_processes = 3\n";
  folder.write("muster.toml", before);
  for (const auto& input : std::vector<std::string>{"", "4\n", "four\n" + enters, enters + "4\n"}) {
    const auto end = run_muster({"config"}, folder, no_devices, input);
    CHECK(end.code == 2);
    CHECK(end.out.empty());
    CHECK(read(folder) == before);
  }
  CHECK(files_in(folder) == 1);
}

TEST_CASE("Without questions: offers, and answers on the command line") {
  const TemporaryFolder folder;
  const auto end = run_muster({"config", "--yes", "--set", "launch.num_processes=4", "--set",
                               "launch.env=A=1", "--set", "launch.env=B=2"},
                              folder, no_devices);
  CHECK(end.code == 0);
  CHECK(read(folder) == "[launch]\nnum_processes = 4\nenv = { A = \"1\", B = \"2\" }\n");
  const auto wrong =
      run_muster({"config", "--yes", "--set", "train.sead=1", "--set", "train.seed=x"}, folder);
  CHECK(wrong.code == 2);
  CHECK(wrong.err ==
        "muster: --set no setting 'train.sead'; did you mean train.seed?\n"
        "muster: --set train.seed = x: expected a whole number of at least 0\n");
}

TEST_CASE("Comments, order and what is not known stay in the file") {
  const TemporaryFolder folder;
  folder.write("muster.toml",
               "# ours\n[train]\nseed = 7 # lucky\n\n[cluster] # of tomorrow\nname = 'x'\n\n"
               "[launch]\nnum_processes = 2 # two\n");
  const auto end = run_muster({"config", "--yes", "--set", "launch.num_processes=3"}, folder);
  CHECK(end.code == 0);
  CHECK(end.err.find("muster: stays as it is: ./muster.toml:5: unknown section [cluster]") !=
        std::string::npos);
  CHECK(read(folder) ==
        "# ours\n[train]\nseed = 7 # lucky\n\n[cluster] # of tomorrow\nname = 'x'\n\n"
        "[launch]\nnum_processes = 3 # two\n");
}

TEST_CASE("Another file, or that of all jobs") {
  const TemporaryFolder folder;
  const auto other = run_muster({"config", "--yes", "--config", "a b.toml"}, folder, no_devices);
  CHECK(other.code == 0);
  CHECK(read(folder, "a b.toml") == "[launch]\nnum_processes = 1\n");
  CHECK(other.err.find("muster launch --config 'a b.toml' -- ./your_program") != std::string::npos);
  auto environment = no_devices;
  environment["XDG_CONFIG_HOME"] = folder.path() + "/home";
  CHECK(run_muster({"config", "-y", "--user"}, folder, environment).code == 0);
  CHECK(read(folder, "home/muster/config.toml") == "[launch]\nnum_processes = 1\n");
  CHECK(run_muster({"config", "--user", "--config", "x"}, folder).code == 2);
}

TEST_CASE("A file that is not TOML is not touched") {
  const TemporaryFolder folder;
  folder.write("muster.toml", "[launch\n");
  const auto end = run_muster({"config", "--yes"}, folder, no_devices);
  CHECK(end.code == 2);
  CHECK(end.err.starts_with("muster: ./muster.toml:1:8: not TOML"));
  CHECK(read(folder) == "[launch\n");
}

TEST_CASE("A variable that is stronger than the file is told") {
  const TemporaryFolder folder;
  auto environment = no_devices;
  environment["MUSTER_LAUNCH_NUM_PROCESSES"] = "8";
  const auto end = run_muster({"config", "--yes"}, folder, environment);
  CHECK(end.code == 0);
  CHECK(end.err.find("MUSTER_LAUNCH_NUM_PROCESSES is set here, and stronger than the file") !=
        std::string::npos);
}
