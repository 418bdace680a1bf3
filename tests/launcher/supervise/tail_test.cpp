#include "supervise/tail.hpp"

#include <catch2/catch_test_macros.hpp>

namespace muster::launcher {
namespace {

using Lines = std::vector<std::string>;

TEST_CASE("the last 20 lines are kept, with their times") {
  Tail tail;
  for (int i = 0; i < 100; ++i) tail.feed("line " + std::to_string(i) + "\n", i);
  const auto last = tail.last_lines();
  REQUIRE(last.size() == 20);
  CHECK(last.front() == "line 80");
  CHECK(last.back() == "line 99");
  CHECK(tail.lines().back().monotonic_ns == 99);
}

TEST_CASE("a line without an end counts, and portions make no difference") {
  Tail tail;
  tail.feed("a", 1);
  tail.feed("b\nc", 2);
  CHECK(tail.last_lines() == Lines{"ab", "c"});
}

TEST_CASE("of a bar the last state is kept") {
  Tail tail;
  SECTION("the return comes first") { tail.feed("\r10%\r20%\r30%\ndone\n", 1); }
  SECTION("the return comes last") { tail.feed("10%\r20%\r30%\r\ndone\n", 1); }
  SECTION("in portions") {
    tail.feed("10%\r", 1);
    tail.feed("30", 1);
    tail.feed("%\r\n", 1);
    tail.feed("done\r\n", 1);
  }
  CHECK(tail.last_lines() == Lines{"30%", "done"});
}

TEST_CASE("a line of any length takes bounded memory") {
  Tail tail;
  for (int i = 0; i < 1000; ++i) tail.feed(std::string(10'000, 'x'), 1);
  tail.feed("\n", 1);
  CHECK(tail.last_lines().front().size() == Tail::longest_line);
}

TEST_CASE("of much output at once the last lines are the same as of all its lines") {
  std::string text = "begun ";
  for (int i = 0; i < 1000; ++i) text += std::to_string(i) + "\n";
  text += "open";
  Tail whole, pieces;
  whole.feed(text, 1);
  for (const char letter : text) pieces.feed(std::string_view(&letter, 1), 1);
  CHECK(whole.last_lines() == pieces.last_lines());
  CHECK(whole.lines().size() == pieces.lines().size());
  CHECK(whole.lines().front().text == pieces.lines().front().text);
  CHECK(Tail().empty());
  CHECK_FALSE(whole.empty());
}

}  // namespace
}  // namespace muster::launcher
