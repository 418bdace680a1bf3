#include "muster_run.hpp"

#include <catch2/catch_test_macros.hpp>

using muster::test::run_muster;

namespace {

void refuses(const std::vector<std::string>& words, const std::string& message) {
  CAPTURE(words);
  const auto end = run_muster(words);
  CHECK(end.code == 2);
  CHECK(end.out.empty());
  CHECK(end.err == "muster: " + message + "\n");
}

}  // namespace

TEST_CASE("Without a command the commands are listed, on stderr, as wrong usage") {
  const auto end = run_muster({});
  CHECK(end.code == 2);
  CHECK(end.out.empty());
  CHECK(end.err == run_muster({"--help"}).out);
}

TEST_CASE("A command that does not exist is named with what is near") {
  refuses({"lunch", "x"}, "unknown command 'lunch'; did you mean launch?");
  refuses({"./train"},
          "unknown command './train'; a program is started by: muster launch -- ./train");
  refuses(
      {"config", "shwo"},
      "muster config has: show, get, set, check, import, schema; found 'shwo'; did you mean show?");
  refuses({"-n", "4", "./train"},
          "'-n' comes after a command: muster launch -n ...; muster --help lists the commands");
}

TEST_CASE("Help is given in spite of a mistake in the options") {
  const auto end = run_muster({"launch", "--typo", "-h"});
  CHECK(end.code == 0);
  CHECK(end.out == run_muster({"help", "launch"}).out);
  CHECK(run_muster({"config", "--typo", "--help"}).out == run_muster({"help", "config"}).out);
}

TEST_CASE("Of an option that is given twice the last value counts, as it was typed") {
  for (const std::string value :
       {"{}", "[[aa]]", "[a,b]", "--", "-x", "a b", "'q'", "\"\"", "++"}) {
    refuses({"config", "show", "--config=other", "--config=" + value},
            "--config " + value + ": no such file");
  }
}

TEST_CASE("Words that a command does not expect") {
  refuses({"version", "x"}, "muster version: 'x' is not expected here");
  refuses({"env", "--devices", "0"},
          "muster env has no option '--devices'; muster env --help lists them");
  refuses({"config", "show", "x"}, "muster config show: 'x' is not expected here");
  refuses({"config", "show", "--dry-run"}, "unknown option '--dry-run'");
}
