#include "arguments/command_line.hpp"

#include <muster/error.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators_range.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>

namespace muster::launcher {

using Catch::Matchers::Message;
using muster::CommandFlag;
using muster::ConfigError;
using Words = std::vector<std::string>;

namespace {

constexpr CommandFlag own[] = {{"--module", 'm', "", ""},
                               {"--config", 0, "FILE", ""},
                               {"--dry-run", 0, "", ""},
                               {"--report", 0, "FILE", ""},
                               {"--help", 'h', "", ""}};

CommandLine parse(const Words& words, const CommandGrammar& grammar = {"launch", own, true, true}) {
  CommandLine line;
  split_words(words, grammar, line);
  if (line.fault) throw ConfigError(*line.fault);
  return line;
}

/// "--num-processes=4 --pin-devices": what was understood, on one line.
std::string text_of(const std::vector<muster::GivenFlag>& flags) {
  std::string text;
  for (const auto& flag : flags) {
    text += (text.empty() ? "" : " ") + flag.name + (flag.value ? "=" + *flag.value : "");
  }
  return text;
}

std::string text_of(const Words& words) {
  std::string text;
  for (const auto& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

struct Case {
  Words words;
  std::string settings;
  std::string own;
  Words program;
};

const Case cases[] = {
    // Everything after the program's name is the program's.
    {{"-n", "2", "prog", "--num-processes", "9", "--config", "zzz"},
     "-n=2",
     "",
     {"prog", "--num-processes", "9", "--config", "zzz"}},
    {{"-n", "2", "--", "prog", "-n", "3"}, "-n=2", "", {"prog", "-n", "3"}},
    {{"-n", "4", "prog", "--n", "9", "--help", "--", "x"},
     "-n=4",
     "",
     {"prog", "--n", "9", "--help", "--", "x"}},
    {{"--", "-n"}, "", "", {"-n"}},
    {{"--", "--", "x"}, "", "", {"--", "x"}},
    {{"prog"}, "", "", {"prog"}},
    {{"-", "x"}, "", "", {"-", "x"}},
    {{"--dry-run", "--", "p", "", "a b", "$HOME;\n"},
     "",
     "--dry-run",
     {"p", "", "a b", "$HOME;\n"}},
    // Spellings of one option.
    {{"-n4", "p"}, "-n=4", "", {"p"}},
    {{"-n=4", "p"}, "-n=4", "", {"p"}},
    {{"--num-processes=4", "p"}, "--num-processes=4", "", {"p"}},
    {{"--num_processes", "4", "p"}, "--num_processes=4", "", {"p"}},
    {{"--dry_run", "p"}, "", "--dry-run", {"p"}},
    {{"--nproc_per_node=auto", "p"}, "--nproc_per_node=auto", "", {"p"}},
    // An empty value is a value; it takes no other word.
    {{"--master-addr=", "p"}, "--master-addr=", "", {"p"}},
    {{"--report=", "p"}, "", "--report==", {"p"}},
    {{"--prefix", "", "p"}, "--prefix=", "", {"p"}},
    // A value may start with a dash if it is no option.
    {{"--master-port", "-1", "p"}, "--master-port=-1", "", {"p"}},
    {{"--prefix", "-> ", "p"}, "--prefix=-> ", "", {"p"}},
    // A list takes one word, never the program.
    {{"--devices", "0,2", "p", "q"}, "--devices=0,2", "", {"p", "q"}},
    {{"--env", "A=1", "--env", "B=2=3", "p"}, "--env=A=1 --env=B=2=3", "", {"p"}},
    // Options of other launchers.
    {{"--cpu", "--standalone", "p"}, "--devices=cpu", "", {"p"}},
    {{"--config_file", "f.toml", "p"}, "", "--config==f.toml", {"p"}},
    {{"--main_process_port", "7", "p"}, "--master-port=7", "", {"p"}},
    // -m ends the options, as Python's does.
    {{"-n", "2", "-m", "pkg.mod", "-n", "3"}, "-n=2", "--module", {"pkg.mod", "-n", "3"}},
    {{"--module", "pkg.mod", "--help"}, "", "--module", {"pkg.mod", "--help"}},
    {{"-m", "--", "mod"}, "", "--module", {"mod"}},
    {{"-h"}, "", "--help", {}},
    {{}, "", "", {}},
};

}  // namespace

TEST_CASE("The launcher's words end where the program's begin") {
  const auto& one = cases[GENERATE(range(std::size_t{0}, std::size(cases)))];
  CAPTURE(one.words);
  const auto line = parse(one.words);
  CHECK(text_of(line.settings) == one.settings);
  CHECK(text_of(line.own) == one.own);
  CHECK(line.program == one.program);
}

TEST_CASE("What is wrong with the words is said in one line") {
  const auto refuses = [](const Words& words, const std::string& message) {
    CAPTURE(words);
    CHECK_THROWS_MATCHES(parse(words), ConfigError, Message(message));
  };
  refuses({"--num-procesess", "4", "--", "./train"},
          "unknown option '--num-procesess'; did you mean --num-processes?");
  refuses({"--dry-rum", "p"}, "unknown option '--dry-rum'; did you mean --dry-run?");
  refuses({"-dry-run", "p"}, "unknown option '-dry-run'; did you mean --dry-run?");
  refuses({"--qqqqqqq", "p"}, "unknown option '--qqqqqqq'");
  refuses({"-n"}, "-n needs a value");
  refuses({"-n", "--", "p"}, "-n needs a value, found '--'");
  refuses({"--report", "--dry-run", "p"}, "--report needs a value, found '--dry-run'");
  refuses({"--dry-run=yes", "p"}, "--dry-run takes no value");
  refuses({"--cpu=1", "p"}, "--cpu takes no value");
  refuses({"-m"}, "-m needs the name of a Python module; muster's own options come before -m");
  refuses({"-m", ""},
          "-m needs the name of a Python module, found ''; muster's own options come before -m");
  refuses({"-m", "-n", "4", "mod"},
          "-m needs the name of a Python module, found '-n'; muster's own options come before -m");
}

TEST_CASE("Flags without effect are noted") {
  REQUIRE(parse({"--standalone", "p"}).notes.size() == 1);
  CHECK(parse({"-n", "2", "p"}).notes.empty());
}

TEST_CASE("After a mistake the words are read on, to the program") {
  CommandLine line;
  split_words(Words{"--typo", "--report", "f", "-n", "--", "p", "--report", "g"},
              {"launch", own, true, true}, line);
  REQUIRE(line.fault);
  CHECK(line.fault->what() == std::string("unknown option '--typo'"));
  CHECK(line.own == Words{"--report==f"});
  CHECK(line.program == Words{"p", "--report", "g"});
}

TEST_CASE("A command without settings or a program knows its own flags only") {
  constexpr CommandFlag flags[] = {{"--json", 0, "", ""}};
  const CommandGrammar grammar{"env", flags, false, false};
  CHECK(parse({"--json"}, grammar).own == Words{"--json"});
  CHECK_THROWS_MATCHES(
      parse({"--devices", "0"}, grammar), ConfigError,
      Message("muster env has no option '--devices'; muster env --help lists them"));
  CHECK_THROWS_MATCHES(parse({"x"}, grammar), ConfigError,
                       Message("muster env: 'x' is not expected here"));
}

}  // namespace muster::launcher
