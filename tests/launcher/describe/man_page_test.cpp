#include "describe/man_page.hpp"

#include <muster/setting.hpp>

#include "commands/commands.hpp"
#include "launcher/commands/muster_run.hpp"

#include <catch2/catch_test_macros.hpp>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>

using muster::launcher::man_page;
using muster::test::TemporaryFolder;

namespace {

std::string read(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// As groff sets it, without its bold and with blanks as one.
std::string as_text(const std::string& roff, std::string& warnings) {
  const TemporaryFolder folder;
  folder.write("muster.1", roff);
  const std::string at = "'" + folder.path() + "/";
  const auto command = "groff -ww -man -T ascii -P -c -P -b -P -u " + at + "muster.1' >" + at +
                       "text' 2>" + at + "warnings'";
  REQUIRE(std::system(command.c_str()) == 0);
  warnings = read(folder.path() + "/warnings");
  std::string text;
  for (const char letter : read(folder.path() + "/text")) {
    const bool blank = letter == ' ' || letter == '\n';
    if (blank && text.ends_with(' ')) continue;
    text += blank ? ' ' : letter;
  }
  return text;
}

}  // namespace

TEST_CASE("The manual page is read by groff without a warning, and has all commands and settings") {
  if (std::system("command -v groff >/dev/null && groff -man -T ascii /dev/null >/dev/null 2>&1") !=
      0) {
    SKIP("there is no groff with its man macros");
  }
  std::string warnings;
  const auto text = as_text(man_page(), warnings);
  CHECK(warnings == "");
  for (const auto& command : muster::launcher::commands()) {
    CAPTURE(command.name);
    CHECK(text.find("muster " + std::string(command.name)) != std::string::npos);
  }
  for (const auto& row : muster::settings_table()) {
    CAPTURE(row.id());
    CHECK(text.find(row.flag()) != std::string::npos);
    CHECK(text.find(row.id()) != std::string::npos);
  }
  CHECK(text.find("{rank}") != std::string::npos);
}

TEST_CASE("muster help --man prints the page") {
  const auto end = muster::test::run_muster({"help", "--man"});
  CHECK(end.code == 0);
  CHECK(end.out == man_page());
}
