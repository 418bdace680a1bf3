#include "wizard/dialogue.hpp"

#include <muster/error.hpp>

#include <catch2/catch_test_macros.hpp>

#include <unistd.h>

using namespace muster::launcher;

namespace {

/// A reader of what is written into a pipe, which ends then.
LineReader input_of(const std::string& text) {
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  REQUIRE(::write(ends[1], text.data(), text.size()) == static_cast<ssize_t>(text.size()));
  ::close(ends[1]);
  return LineReader(ends[0]);
}

std::string talk(const std::string& input, bool terminal, Interview& interview) {
  auto reader = input_of(input);
  std::string fault;
  try {
    hold_dialogue(interview, reader, Screen(), terminal);
  } catch (const muster::ConfigError& error) {
    fault = error.what();
  }
  return fault;
}

WizardFacts cpu_machine() {
  WizardFacts facts;
  facts.topology.cpus.cores = 8;
  return facts;
}

Question ranks_question() { return *Interview(cpu_machine(), {}).next(); }

}  // namespace

TEST_CASE("Lines are read one at a time, with any end, and the last without one") {
  auto reader = input_of("a\n\nb c");
  CHECK(reader.next() == "a");
  CHECK(reader.next() == "");
  CHECK(reader.left_over() == "b c");
  CHECK(reader.next() == "b c");
  CHECK(reader.next() == std::nullopt);
  CHECK(reader.next() == std::nullopt);
  CHECK_FALSE(reader.left_over());
  auto endless = input_of(std::string(60000, 'x'));
  CHECK(endless.next()->size() == 60000);
}

TEST_CASE("From a pipe a wrong answer is an error that says which") {
  Interview interview(cpu_machine(), {});
  CHECK(talk("two\n2\n", false, interview) ==
        "Ranks? (launch.num_processes) = two: expected a whole number from 1 to 100000, or auto");
}

TEST_CASE("On a terminal a wrong answer is asked for again") {
  Interview interview(cpu_machine(), {});
  CHECK(talk("two\n 1 \n7\n\n\n\n\n", true, interview).empty());
  CHECK_FALSE(interview.next());
  CHECK(interview.to_write().at(0).second == muster::Value(std::int64_t{1}));
}

TEST_CASE("An input that ends too early, or too late, is an error") {
  Interview early(cpu_machine(), {});
  CHECK(talk("", false, early).starts_with("the input ended at 'Ranks?': nothing was written"));
  Interview late(cpu_machine(), {});
  const auto fault = talk("1\n" + std::string(50, '\n') + "9\n", false, late);
  CHECK(fault.find("'9' answers none") != std::string::npos);
}

TEST_CASE("A question takes one line, or as many as a narrow screen needs") {
  Screen wide, narrow;
  wide.width = 120;
  narrow.width = 40;
  CHECK(question_text(ranks_question(), wide) ==
        "Ranks?  Processes that train together; one uses all cores, more divide them.  [1] ");
  CHECK(
      question_text(ranks_question(), narrow) ==
      "Ranks?\n  Processes that train together; one\n  uses all cores, more divide them.\n  [1] ");
  wide.colour = true;
  CHECK(question_text(ranks_question(), wide).starts_with("\x1b[1mRanks?\x1b[0m  "));
  CHECK(opening_text("8 cores", "./muster.toml", narrow, true) ==
        "Found: 8 cores.\nWriting ./muster.toml (Ctrl-C leaves it\nas it is).\n\n");
}

TEST_CASE("Offers that cannot be taken are told") {
  auto facts = cpu_machine();
  facts.topology.nvidia.usable.push_back({"GPU-0", "0000:01:00.0", "H200", 0, false});
  Interview interview(facts, {});
  interview.give(*muster::find_setting_by_id("launch.num_processes"), std::int64_t{4});
  CHECK_THROWS_AS(take_offers(interview), muster::ConfigError);
}
