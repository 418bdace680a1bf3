#include "report/report_file.hpp"

#include <muster/error.hpp>

#include "launcher/temporary_folder.hpp"

#include <catch2/catch_test_macros.hpp>

#include <fstream>
#include <iterator>
#include <sys/stat.h>
#include <unistd.h>

namespace muster::launcher {

using muster::test::TemporaryFolder;

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

TEST_CASE("A report goes to a file or a device; nothing else may hold the launch up") {
  const TemporaryFolder folder;
  const auto fifo = folder.path() + "/fifo";
  REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
  CHECK_THROWS_AS(check_report_path(fifo), muster::ConfigError);
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
