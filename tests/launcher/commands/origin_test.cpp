// Messages name what set a value: a flag that nobody typed helps nobody.

#include "muster_run.hpp"

#include <catch2/catch_test_macros.hpp>

using muster::test::run_muster;
using muster::test::TemporaryFolder;

namespace {

/// The message of `muster launch -n 2` with a variable, or with a line of muster.toml.
std::string fault(const std::string& variable, const std::string& value, const std::string& line) {
  const TemporaryFolder folder;
  if (!line.empty()) folder.write("muster.toml", "[launch]\n" + line + "\n");
  std::map<std::string, std::string> environment;
  if (!variable.empty()) environment[variable] = value;
  const auto end =
      run_muster({"launch", "-n", "2", "--quiet", "--", "sleep", "60"}, folder, environment);
  CHECK((end.code == 2 || end.code == 124));
  return end.err;
}

std::string with_variable(const std::string& name, const std::string& value) {
  return fault(name, value, "");
}

std::string with_file(const std::string& line) { return fault("", "", line); }

}  // namespace

TEST_CASE("Messages name the variable or the line that set a value") {
  CHECK(with_variable("MUSTER_LAUNCH_STDIN", "5") ==
        "muster: MUSTER_LAUNCH_STDIN '5': there is no rank 5; the job has ranks 0 to 1\n");
  CHECK(with_file("console_ranks = \"0,7\"") ==
        "muster: muster.toml:2: launch.console_ranks '0,7': there is no rank 7; the job has ranks "
        "0 to 1\n");
  CHECK(with_file("devices = [99]").starts_with("muster: muster.toml:2: launch.devices"));
  CHECK(with_variable("MUSTER_LAUNCH_DEVICES", "99").starts_with("muster: MUSTER_LAUNCH_DEVICES"));
  CHECK(with_variable("MUSTER_LAUNCH_MASTER_ADDR", "a..b")
            .starts_with("muster: MUSTER_LAUNCH_MASTER_ADDR a..b: "));
  CHECK(with_file("env = { RANK = \"1\" }") ==
        "muster: muster.toml:2: launch.env.RANK: each rank gets this from muster; leave it out\n");
  CHECK(with_variable("MUSTER_LAUNCH_UNSET_ENV", "MUSTER_CONTROL_FD") ==
        "muster: MUSTER_LAUNCH_UNSET_ENV MUSTER_CONTROL_FD: muster's runtime needs this; leave it "
        "out\n");
  CHECK(with_variable("MUSTER_LAUNCH_TIMEOUT", "0.1") ==
        "muster: the job did not end within 0.1 s (MUSTER_LAUNCH_TIMEOUT)\n");
}
