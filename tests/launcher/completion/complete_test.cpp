#include "completion/complete.hpp"

#include <muster/setting.hpp>

#include "commands/commands.hpp"

#include <catch2/catch_test_macros.hpp>

#include <algorithm>

using muster::launcher::complete;
using Words = std::vector<std::string>;

namespace {

Words words_of(const Words& line) {
  Words found;
  for (const auto& candidate : complete(line).words) found.push_back(candidate.word);
  return found;
}

bool has(const Words& list, const std::string& word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

}  // namespace

TEST_CASE("Commands and their parts") {
  CHECK(words_of({"la"}) == Words{"launch"});
  CHECK(has(words_of({""}), "config"));
  CHECK_FALSE(has(words_of({""}), "show"));
  CHECK(words_of({"config", "s"}) == Words{"show", "set", "schema"});
  CHECK(words_of({"--v"}) == Words{"--version"});
  CHECK(words_of({"help", "config", "g"}) == Words{"get"});
  CHECK(complete({}).words == complete(Words{""}).words);
  CHECK(words_of({"lunch", ""}).empty());
}

TEST_CASE("Every option of every command, and every setting's flag, with its explanation") {
  for (const auto& command : muster::launcher::commands()) {
    Words line;
    std::string name(command.name);
    for (std::size_t end = 0; (end = name.find(' ')) != name.npos; name.erase(0, end + 1)) {
      line.push_back(name.substr(0, end));
    }
    line.push_back(name);
    line.emplace_back("--");
    const auto found = words_of(line);
    for (const auto& flag : command.own) CHECK(has(found, std::string(flag.name)));
    for (const auto& row : muster::settings_table()) {
      CHECK(has(found, row.flag()) == command.settings);
    }
  }
  const Words line{"launch", "--thr"};
  REQUIRE(complete(line).words.size() == 1);
  CHECK(complete(line).words[0].help.starts_with("OMP_NUM_THREADS"));
}

TEST_CASE("Values of options, behind a blank or an equals sign") {
  CHECK(words_of({"launch", "--log-level", "d"}) == Words{"debug"});
  CHECK(words_of({"launch", "--log-level=de"}) == Words{"--log-level=debug"});
  CHECK(words_of({"launch", "--devices", ""}) == Words{"auto", "cpu", "cuda"});
  CHECK(has(words_of({"launch", "-n", ""}), "auto"));
  CHECK(words_of({"launch", "--pin-devices="}) ==
        Words{"--pin-devices=true", "--pin-devices=false"});
  CHECK(complete(Words{"launch", "--config", ""}).files);
  CHECK(words_of({"config", "import", "--from", "h"}) == Words{"hostfile"});
  CHECK(words_of({"launch", "--dry-run=j"}) == Words{"--dry-run=json"});
  CHECK(complete(Words{"launch", "--dry-run", ""}).programs);
  CHECK(words_of({"config", "--set", "train.see"}) == Words{"train.seed="});
  CHECK(words_of({"config", "--set", "log.level=w"}) == Words{"log.level=warning"});
  CHECK(words_of({"config", "--set=log.level=w"}) == Words{"--set=log.level=warning"});
}

TEST_CASE("Words of commands, and the program behind the options") {
  CHECK(words_of({"config", "get", "train.see"}) == Words{"train.seed"});
  CHECK(words_of({"config", "set", "log.level", "e"}) == Words{"error"});
  CHECK(words_of({"config", "set", "log.level", "error", ""}).empty());
  CHECK(complete(Words{"config", "check", ""}).files);
  CHECK(words_of({"completion", "z"}) == Words{"zsh"});
  const auto program = complete(Words{"launch", "-n", "2", "--", ""});
  CHECK((program.programs && program.files && program.words.empty()));
  const auto argument = complete(Words{"launch", "-n", "2", "./train", "--th"});
  CHECK((!argument.programs && argument.files && argument.words.empty()));
  CHECK(complete(Words{"env", ""}).words.empty());
}
