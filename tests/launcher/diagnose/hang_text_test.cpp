// What is printed of ranks that hang: short enough to be read, and nothing that a terminal obeys.

#include "diagnose/hang_text.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace muster::launcher {
namespace {

using Catch::Matchers::ContainsSubstring;

constexpr std::int64_t second = 1'000'000'000;

ThreadStack stack_of(int thread, const std::vector<std::string>& functions) {
  ThreadStack stack{thread, "train", {}, ""};
  for (const auto& function : functions)
    stack.frames.push_back({.address = 1, .function = function, .module = "train", .offset = 1});
  return stack;
}

/// Functions that are called one by the other, the innermost first, and what starts a program.
std::vector<std::string> deep(const std::string& name, int depth) {
  std::vector<std::string> functions;
  for (int i = 0; i < depth; ++i) functions.push_back(name + std::to_string(i));
  functions.insert(functions.end(),
                   {"main", "__libc_start_call_main", "__libc_start_main", "_start"});
  return functions;
}

/// A job in which each rank has a stack of its own.
HangFacts job(int ranks, int depth) {
  HangFacts facts;
  facts.cause = {HangCause::Kind::deadline, 0, "", 0};
  facts.world_size = ranks;
  facts.now_ns = 10 * second;
  for (int rank = 0; rank < ranks; ++rank) {
    RankState state;
    state.rank = rank;
    state.pid = 100 + rank;
    state.ready = true;
    state.state = 'S';
    state.note = ControlNote{};
    state.note->operation = "all_reduce";
    state.note->label = "gradients";
    state.note->sequence = 812;
    state.note->state = CollectiveState::running;
    state.note->waiting = 1;
    state.note->since_ns = 8 * second;
    state.threads.push_back(stack_of(rank, deep("wait" + std::to_string(rank) + "_", depth)));
    for (int other = 0; other < 6; ++other)
      state.threads.push_back(stack_of(rank, {"worker" + std::to_string(other)}));
    facts.ranks.push_back(std::move(state));
  }
  return facts;
}

/// The job's last rank is the one that the others wait for.
HangFacts one_at_work(int ranks, int depth) {
  auto facts = job(ranks, depth);
  facts.ranks.back().note->state = CollectiveState::done;
  facts.ranks.back().note->waiting = 0;
  facts.ranks.back().threads = {stack_of(1, deep("compute", depth))};
  return facts;
}

auto lines_of(const std::string& text) { return std::ranges::count(text, '\n'); }

TEST_CASE("a hang fits on a screen, however many ranks differ and however deep they are") {
  for (const int ranks : {1, 2, 3, 4, 8, 9, 64}) {
    for (const int depth : {1, 5, 90}) {
      const auto text = hang_text(one_at_work(ranks, depth), {});
      INFO(text);
      CHECK(lines_of(text) <= 25);
    }
  }
}

TEST_CASE("the rank that others wait for is shown first, with the more of its stack") {
  const auto text = hang_text(one_at_work(64, 90), {});
  INFO(text);
  CHECK_THAT(text, ContainsSubstring("rank 63  pid 163"));
  CHECK_THAT(text, ContainsSubstring("stack of rank 63\n    compute0"));
  CHECK(text.find("stack of rank 63") < text.find("stack of rank 0"));
  CHECK_THAT(text, ContainsSubstring("more ranks"));
  CHECK_THAT(text, ContainsSubstring("--report FILE has them all"));
}

TEST_CASE("ranks in the same place are told of together, whatever their other threads do") {
  auto facts = job(4, 3);
  for (auto& rank : facts.ranks) rank.threads[0] = stack_of(rank.rank, deep("wait", 3));
  facts.ranks[0].threads.push_back(stack_of(9, {"serve_the_store"}));
  const auto text = hang_text(facts, {});
  INFO(text);
  CHECK_THAT(text, ContainsSubstring("stack of ranks 0-3\n"));
  CHECK_THAT(text, !ContainsSubstring("stack of rank 0\n"));
}

TEST_CASE("other threads are told where there is room, and all ranks of a group have them") {
  auto facts = job(2, 3);
  for (auto& rank : facts.ranks) rank.threads.resize(1);
  CHECK_THAT(hang_text(facts, {}), !ContainsSubstring("other thread"));
  facts.ranks[0].threads.push_back(stack_of(8, {"read_a_batch", "work"}));
  facts.ranks[0].threads.push_back(stack_of(9, {"read_a_batch", "work"}));
  CHECK_THAT(hang_text(facts, {}),
             ContainsSubstring("    main  (train)\n    2 other threads: read_a_batch < work\n"));
  facts.ranks[0].unseen_threads = 40;
  CHECK_THAT(hang_text(facts, {}), ContainsSubstring("    and 40 threads that were not looked at"));
  for (auto& rank : facts.ranks) rank.threads[0] = stack_of(rank.rank, deep("wait", 3));
  CHECK_THAT(hang_text(facts, {}), !ContainsSubstring("other thread"));
}

TEST_CASE("calls of all ranks come before other threads of some") {
  auto facts = job(3, 5);
  for (auto& rank : facts.ranks) rank.threads.resize(4);
  const auto text = hang_text(facts, {});
  INFO(text);
  CHECK(lines_of(text) <= 25);
  for (const std::string rank : {"0", "1", "2"})
    CHECK_THAT(text, ContainsSubstring("wait" + rank + "_0  (train)\n"));
  CHECK_THAT(text, !ContainsSubstring(" more\n"));
  CHECK_THAT(text, !ContainsSubstring("other thread"));
}

TEST_CASE("that a rank sleeps is told of those only that say nothing else") {
  auto facts = job(2, 1);
  for (auto& rank : facts.ranks) rank.waits_in = "futex_wait";
  facts.ranks[1].ready = false;
  facts.ranks[1].note = ControlNote{};
  const auto text = hang_text(facts, {});
  CHECK_THAT(text, ContainsSubstring("rank 0   pid 100: all_reduce #812"));
  CHECK_THAT(text, ContainsSubstring("rank 1   pid 101, sleeping in futex_wait\n"));
  facts.ranks[0].state = 'D';
  CHECK_THAT(hang_text(facts, {}), ContainsSubstring("pid 100, stuck in the kernel in futex_wait"));
}

TEST_CASE("what every program begins with, and what only waits for us, is left out") {
  auto facts = job(1, 1);
  facts.ranks[0].threads = {
      stack_of(1, {"poll", "muster::Control::ask", "muster::Control::stuck", "give_up", "train",
                   "main", "", "__libc_start_main", "_start"})};
  const auto text = hang_text(facts, {});
  INFO(text);
  facts.ranks[0].threads = {stack_of(1, {"nap", "", "__libc_start_main", ""})};
  facts.ranks[0].threads[0].frames[1].module = "libc.so.6";
  CHECK_THAT(hang_text(facts, {}), ContainsSubstring("stack of rank 0\n    nap  (train)\n"));
  CHECK(lines_of(hang_text(facts, {})) == 4);
  CHECK_THAT(text, ContainsSubstring("stack of rank 0\n    give_up  (train)\n    train  (train)\n"
                                     "    main  (train)\n"));
  CHECK_THAT(text, !ContainsSubstring("_start"));
  CHECK_THAT(text, !ContainsSubstring("poll"));
}

TEST_CASE("Python's own functions are told instead of the interpreter's") {
  auto facts = job(2, 8);
  for (auto& rank : facts.ranks) {
    rank.threads[0] = stack_of(rank.rank, deep("_PyEval", 8));
    rank.python = {"Thread " + std::to_string(rank.pid) + " (idle): \"MainThread\"",
                   "    inner (train.py:2)", "    <module> (train.py:3)"};
  }
  const auto text = hang_text(facts, {});
  INFO(text);
  CHECK_THAT(text, ContainsSubstring("stack of ranks 0, 1\n    MainThread (idle)\n"
                                     "      inner (train.py:2)\n"));
  CHECK_THAT(text, !ContainsSubstring("_PyEval"));
}

TEST_CASE("names that ranks made up cannot speak to the terminal") {
  auto facts = one_at_work(2, 1);
  const std::string bad = "\x1b]0;title\x07\x1b[2J\r\nmuster: all is well\x7f\xc3";
  for (auto& rank : facts.ranks) {
    rank.note->label = rank.note->operation = rank.note->tensor = rank.note->busy = bad;
    rank.waits_in = rank.tracer_name = bad;
    rank.threads[0].frames[0].function = rank.threads[0].frames[0].module = bad;
    rank.threads[0].end = bad;
    rank.python = {bad};
  }
  facts.ranks[1].note->busy_ns = second;
  facts.ranks[0].state = 't';
  const auto text = hang_text(facts, {});
  INFO(text);
  CHECK(std::ranges::none_of(text, [](char letter) {
    return (static_cast<unsigned char>(letter) < ' ' && letter != '\n') || letter == 0x7f;
  }));
  CHECK_THAT(text, !ContainsSubstring("\nmuster:"));
  // A letter that was cut in the middle is no letter.
  CHECK(text.find('\xc3') == text.npos);
}

TEST_CASE("lines are cut between letters") {
  auto facts = job(1, 1);
  for (std::size_t shift = 0; shift < 4; ++shift) {
    std::string name(150 + shift, 'x');
    for (int i = 0; i < 40; ++i) name += "\u00e9";
    facts.ranks[0].threads[0].frames[0].function = name;
    const auto text = hang_text(facts, {});
    const auto end = text.find("...\n");
    REQUIRE(end != text.npos);
    CHECK(text[end - 1] != '\xc3');
  }
}

}  // namespace
}  // namespace muster::launcher
