#include "report/json_report.hpp"

#include <muster/error.hpp>

#include "launcher/temporary_folder.hpp"

#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>

#include <csignal>
#include <fstream>
#include <iterator>
#include <sys/stat.h>
#include <unistd.h>

namespace muster::launcher {

using muster::test::TemporaryFolder;

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

TEST_CASE("A report that cannot be written is refused before anything starts") {
  const TemporaryFolder folder;
  CHECK_THROWS_AS(check_report_path(folder.path()), muster::ConfigError);
  CHECK_THROWS_AS(check_report_path(folder.path() + "/none/r.json"), muster::ConfigError);
  check_report_path(folder.path() + "/r.json");
  CHECK_FALSE(std::ifstream(folder.path() + "/r.json").good());
  write_report(folder.path() + "/r.json", "{}\n");
  check_report_path(folder.path() + "/r.json");
  std::string text;
  std::ifstream(folder.path() + "/r.json") >> text;
  CHECK(text == "{}");
}

TEST_CASE("An error file of torch's tells its message; anything else tells nothing") {
  const TemporaryFolder folder;
  const auto message_of = [&](const std::string& text) {
    folder.write("e.json", text);
    return read_error_file(folder.path() + "/e.json");
  };
  CHECK(message_of(
            R"({"message": {"message": "ValueError: no", "extraInfo": {"timestamp": "1"}}})") ==
        "ValueError: no");
  CHECK(message_of(R"({"message": "plain"})") == "plain");
  CHECK(message_of(R"({"message": {"message": 3}})").empty());
  CHECK(message_of("[1, 2]").empty());
  CHECK(message_of("{\"message\"").empty());
  CHECK(message_of("").empty());
  CHECK(read_error_file(folder.path() + "/absent").empty());
}

TEST_CASE("A report goes to a file or a device; nothing else may hold the launch up") {
  const TemporaryFolder folder;
  const auto fifo = folder.path() + "/fifo";
  REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
  CHECK_THROWS_AS(check_report_path(fifo), muster::ConfigError);
  CHECK(read_error_file(fifo).empty());
  check_report_path("/dev/null");
  write_report("/dev/null", "{}\n");
  CHECK_THROWS_AS(write_report("/dev/full", "{}\n"), muster::Error);
}

TEST_CASE("A report takes the place of the old one, behind a link too") {
  const TemporaryFolder folder;
  const auto file = folder.path() + "/r.json", link = folder.path() + "/link";
  folder.write("r.json", "a longer old one\n");
  ::chmod(file.c_str(), 0640);
  REQUIRE(::symlink("r.json", link.c_str()) == 0);
  write_report(link, "{}\n");
  std::ifstream stream(file);
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  CHECK(text == "{}\n");
  struct stat facts {};
  REQUIRE(::lstat(link.c_str(), &facts) == 0);
  CHECK(S_ISLNK(facts.st_mode));
  REQUIRE(::stat(file.c_str(), &facts) == 0);
  CHECK((facts.st_mode & 0777U) == 0640U);
}

}  // namespace muster::launcher
