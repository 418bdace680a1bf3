#include <muster/setting.hpp>

#include "commands/commands.hpp"
#include "muster_run.hpp"
#include "screen/screen.hpp"

#include <catch2/catch_test_macros.hpp>
#include <support/paths.hpp>

#include <fstream>
#include <iterator>
#include <sstream>

using muster::launcher::help_of;
using muster::test::run_muster;

namespace {

void check_width(const std::string& text, int width) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    CAPTURE(line);
    CHECK(muster::launcher::columns_of(line) <= width);
  }
}

}  // namespace

TEST_CASE("The help of muster launch at 80 columns") {
  // After a wanted change: muster launch --help > tests/launcher/commands/launch_help.txt
  std::ifstream golden(std::string(muster::test::source_dir) +
                       "/tests/launcher/commands/launch_help.txt");
  const std::string expected{std::istreambuf_iterator<char>(golden), {}};
  CHECK(help_of("launch", 80) == expected);
}

TEST_CASE("The help of muster launch has every setting's flag") {
  const auto text = help_of("launch", 80);
  for (const auto& setting : muster::settings_table()) {
    CAPTURE(setting.flag());
    CHECK(text.find(" " + setting.flag()) != text.npos);
  }
}

TEST_CASE("No line of help is wider than the screen") {
  for (const auto& command : muster::launcher::commands()) {
    for (const int width : {80, 100, 120}) {
      check_width(help_of(command.name, width), width);
    }
  }
  check_width(help_of("", 80), 80);
}

TEST_CASE("Help is on stdout, and the same in each way of asking") {
  const auto all = run_muster({"--help"});
  CHECK(all.code == 0);
  CHECK(all.err.empty());
  for (const auto& command : muster::launcher::commands()) {
    CHECK(all.out.find("  " + std::string(command.name) + " ") != std::string::npos);
  }
  CHECK(run_muster({"help"}).out == all.out);
  CHECK(run_muster({"-h"}).out == all.out);
  const auto launch = run_muster({"launch", "--help"});
  CHECK(launch.code == 0);
  CHECK(launch.out == help_of("launch", 80));
  CHECK(run_muster({"launch", "-n", "2", "-h", "--", "p"}).out == launch.out);
  CHECK(run_muster({"help", "launch"}).out == launch.out);
  CHECK(run_muster({"--help", "launch"}).out == launch.out);
  CHECK(run_muster({"help", "config", "show"}).out == run_muster({"config", "show", "--help"}).out);
  CHECK(run_muster({"env", "--help"}).out == help_of("env", 80));
}

TEST_CASE("Help for a command that does not exist is an error") {
  const auto end = run_muster({"help", "lunch"});
  CHECK(end.code == 2);
  CHECK(end.out.empty());
  CHECK(end.err == "muster: no command 'lunch'; muster --help lists them\n");
}

TEST_CASE("The version") {
  CHECK(run_muster({"--version"}).out == "muster 0.1.0\n");
  CHECK(run_muster({"version"}).out == "muster 0.1.0\n");
}
