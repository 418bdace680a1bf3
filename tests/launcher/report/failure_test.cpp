#include "report/failure.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithm>
#include <csignal>

namespace muster::launcher {

namespace {

using Catch::Matchers::ContainsSubstring;

Plan plan_of(int ranks) {
  Plan plan;
  for (int rank = 0; rank < ranks; ++rank) {
    ProcessSpec spec;
    spec.host = "node-a";
    spec.world.rank = spec.world.local_rank = rank;
    plan.ranks.push_back(spec);
  }
  return plan;
}

RankEnd end_of(int rank, int exit_code, int signal = 0, bool by_us = false) {
  RankEnd end;
  end.rank = rank;
  end.pid = 41265 + rank;
  end.exit_code = exit_code;
  end.signal = signal;
  end.stopped_by_us = by_us;
  end.seconds = 12.4;
  return end;
}

Outcome failed(RankEnd first, std::vector<RankEnd> ranks) {
  Outcome outcome;
  outcome.kind = OutcomeKind::rank_failed;
  outcome.exit_code = first.exit_code;
  outcome.first = std::move(first);
  outcome.ranks = std::move(ranks);
  return outcome;
}

}  // namespace

TEST_CASE(
    "The rank that failed first is named, with its reason, its last lines and what followed") {
  auto first = end_of(2, 134, SIGABRT);
  first.core_dumped = true;
  first.reason = "exception";
  first.text = "batch 17: label 11 is not in [0, 10)";
  first.last_lines = {"terminate called after throwing an instance of 'std::runtime_error'",
                      "  what():  batch 17: label 11 is not in [0, 10)"};
  const auto outcome = failed(first, {end_of(0, 143, SIGTERM, true), end_of(1, 143, SIGTERM, true),
                                      first, end_of(3, 0), end_of(4, 1)});
  CHECK(failure_text(outcome, plan_of(5), Screen(), false) ==
        "muster: rank 2 failed first: SIGABRT (exit 134, core dumped) on node-a, local rank 2, pid "
        "41267, "
        "after 12.4 s\n"
        "  error    batch 17: label 11 is not in [0, 10)\n"
        "  output   terminate called after throwing an instance of 'std::runtime_error'\n"
        "             what():  batch 17: label 11 is not in [0, 10)\n"
        "  then     rank 3 ended well\n"
        "           rank 4 failed after it (exit 1)\n"
        "           ranks 0-1 stopped by muster (SIGTERM)\n");
  CHECK(failure_text(outcome, plan_of(5), Screen(), true) ==
        "muster: rank 2 failed first: SIGABRT (exit 134, core dumped) on node-a, local rank 2, pid "
        "41267, "
        "after 12.4 s\n");
}

TEST_CASE("What did not end is told however brief the rest is") {
  auto outcome = failed(end_of(0, 7), {end_of(0, 7)});
  outcome.message = "process 17 did not end after SIGKILL";
  const std::string left = "\n  left     process 17 did not end after SIGKILL\n";
  CHECK(failure_text(outcome, plan_of(1), Screen(), true).ends_with(left));
  outcome.kind = OutcomeKind::interrupted;
  outcome.signal = SIGTERM;
  CHECK(failure_text(outcome, plan_of(1), Screen(), true).ends_with(left));
}

TEST_CASE("A rank that is alone has its lines on the screen already") {
  auto first = end_of(0, 7);
  first.last_lines = {"nobody needs this twice"};
  CHECK(failure_text(failed(first, {first}), plan_of(1), Screen(), false) ==
        "muster: rank 0 failed: exit 7 on node-a, pid 41265, after 12.4 s\n");
}

TEST_CASE("However much there is to say, it is at most 25 lines of the screen's width") {
  auto first = end_of(0, 1);
  for (int line = 0; line < 100; ++line) {
    first.last_lines.push_back("line " + std::to_string(line) + std::string(300, 'x'));
    first.text += "reason " + std::to_string(line) + "\n";
  }
  std::vector<RankEnd> ranks{first};
  for (int rank = 1; rank < 40; ++rank) ranks.push_back(end_of(rank, rank));
  const auto text = failure_text(failed(first, ranks), plan_of(40), Screen(), false);
  CHECK(std::count(text.begin(), text.end(), '\n') <= 25);
  auto more = failed(first, ranks);
  more.memory = MemoryKills{1, false, 100, "/job", 99};
  more.message = "process 17 did not end";
  more.first->core = more.first->stderr_log = "x";
  more.first->call_stack = "1\n2\n3\n4\n5\n6";
  const auto most = failure_text(more, plan_of(40), Screen(), false);
  CHECK(std::count(most.begin(), most.end(), '\n') <= 25);
  CHECK(text.find("line 99") != text.npos);
  CHECK(text.find("more kinds of ends; --report FILE has them all") != text.npos);
  std::size_t start = text.find('\n') + 1;
  while (start < text.size()) {
    const auto end = text.find('\n', start);
    CHECK(end - start <= 80);
    start = end + 1;
  }
}

TEST_CASE("What killed a rank is in the first line, and where more is known below") {
  auto first = end_of(1, 137, SIGKILL);
  first.out_of_memory = true;
  first.stderr_log = "runs/a/rank-1.stderr";
  first.core =
      "/a/folder/with/a/name/that/is/much/longer/than/the/screen/is/wide/at/80/columns/core";
  auto outcome = failed(first, {end_of(0, 143, SIGTERM, true), first});
  outcome.memory = MemoryKills{1, false, 4294967296, "/job", 4294967296};
  CHECK(failure_text(outcome, plan_of(2), Screen(), false) ==
        "muster: rank 1 was killed: out of memory, SIGKILL (exit 137) on node-a, local rank 1, pid "
        "41266, after 12.4 s\n"
        "  memory   the control group allows 4 GiB and the job used 4 GiB\n"
        "           the kernel killed 1 process of /job\n"
        "  core     " +
            first.core +
            "\n"
            "  log      runs/a/rank-1.stderr\n"
            "  then     rank 0 stopped by muster (SIGTERM)\n");
  outcome.memory = MemoryKills{2, true, {}, "", {}};
  CHECK_THAT(failure_text(outcome, plan_of(2), Screen(), false),
             ContainsSubstring("rank 1 was killed: the host ran out of memory") &&
                 ContainsSubstring("killed 2 processes of this host"));
  first.out_of_memory = false;
  CHECK_THAT(failure_text(failed(first, {}), plan_of(2), Screen(), true),
             ContainsSubstring("rank 1 was killed from outside: SIGKILL (exit 137) on"));
  first.stopped_by_us = true;
  CHECK_THAT(failure_text(failed(first, {}), plan_of(2), Screen(), true),
             ContainsSubstring("rank 1 failed first: SIGKILL (exit 137) on"));
}

TEST_CASE("Ranks that left early are in the first line") {
  auto outcome = failed(end_of(2, 1), {end_of(0, 0), end_of(1, 0), end_of(2, 1)});
  outcome.left_early = {0, 1};
  CHECK_THAT(failure_text(outcome, plan_of(3), Screen(), true),
             ContainsSubstring("ranks 0-1 left early (exit 0), then rank 2 failed: exit 1 on"));
}

TEST_CASE("A call stack is told unless it is among the last lines") {
  auto first = end_of(1, 1);
  first.text = "ValueError: no";
  first.call_stack = "Traceback (most recent call last):\n  a\n  b\n  c\nValueError: no";
  const auto text = failure_text(failed(first, {}), plan_of(2), Screen(), false);
  CHECK_THAT(text, ContainsSubstring("  stack      a\n             b\n             c\n"));
  first.last_lines = {"Traceback (most recent call last):", "ValueError: no"};
  CHECK(failure_text(failed(first, {}), plan_of(2), Screen(), false).find("stack") ==
        std::string::npos);
}

TEST_CASE("What lines tell a terminal stays out of the failure") {
  auto first = end_of(1, 1);
  first.last_lines = {"\x1b[1;31mred\x1b[0m \a\tand\0 more"};
  CHECK_THAT(failure_text(failed(first, {}), plan_of(2), Screen(), false),
             ContainsSubstring("  output   red \tand\n"));
}

TEST_CASE("A rank that is alone but not shown has its lines told") {
  auto first = end_of(0, 7);
  first.last_lines = {"nobody saw this"};
  first.shown = false;
  CHECK_THAT(failure_text(failed(first, {first}), plan_of(1), Screen(), false),
             ContainsSubstring("  output   nobody saw this\n"));
}

TEST_CASE("What no rank explains has a line of its own") {
  Outcome outcome;
  CHECK(failure_text(outcome, plan_of(1), Screen(), false).empty());
  outcome.kind = OutcomeKind::interrupted;
  outcome.signal = SIGTERM;
  outcome.seconds = 3.25;
  CHECK(failure_text(outcome, plan_of(2), Screen(), false) ==
        "muster: ended by SIGTERM after 3.2 s\n");
  outcome.from_terminal = true;
  CHECK(failure_text(outcome, plan_of(2), Screen(), false) ==
        "muster: ended by Ctrl-C after 3.2 s\n");
  outcome.kind = OutcomeKind::not_started;
  outcome.message = "./train: not found";
  CHECK(failure_text(outcome, plan_of(2), Screen(), false) == "muster: ./train: not found\n");
}

TEST_CASE("Colour only where the screen shows it") {
  const Screen colourful{80, true};
  const auto text = failure_text(failed(end_of(0, 7), {}), plan_of(1), colourful, true);
  CHECK(text.starts_with("\x1b[1;31mmuster:\x1b[0m \x1b[1mrank 0 failed: exit 7\x1b[0m on node-a"));
}

TEST_CASE("What did not end is told, whatever else there is to say") {
  const std::string left = "process 17 did not end after SIGKILL";
  auto outcome = failed(end_of(0, 7), {});
  outcome.message = left;
  CHECK(failure_text(outcome, plan_of(1), Screen(), false).ends_with("  left     " + left + "\n"));
  outcome.kind = OutcomeKind::interrupted;
  outcome.signal = SIGTERM;
  CHECK(failure_text(outcome, plan_of(1), Screen(), false).ends_with("  left     " + left + "\n"));
  outcome.signal = SIGPIPE;
  CHECK(failure_text(outcome, plan_of(1), Screen(), false) == "  left     " + left + "\n");
}

TEST_CASE("Ranks that were in one collective share a line") {
  Outcome outcome;
  outcome.kind = OutcomeKind::timeout;
  outcome.message = "the job did not end";
  for (int rank = 0; rank < 4; ++rank) {
    auto end = end_of(rank, 143, SIGTERM, true);
    end.last.sequence = 12;
    end.last.step = 40;
    end.last.state = CollectiveState::running;
    end.last.operation = "all_reduce";
    end.last.label = "gradients 2/3";
    if (rank == 1) end.last.state = CollectiveState::done;
    if (rank == 3) end.last.sequence = 11;
    outcome.ranks.push_back(end);
  }
  CHECK(failure_text(outcome, plan_of(4), Screen(), false) ==
        "muster: the job did not end\n"
        "  during   rank 3 was in all_reduce #11 'gradients 2/3', step 40\n"
        "           ranks 0,2 were in all_reduce #12 'gradients 2/3', step 40\n"
        "  then     ranks 0-3 stopped by muster (SIGTERM)\n");
}

TEST_CASE("What ranks do to meet has no number, and names they made up do not speak to terminals") {
  Outcome outcome;
  outcome.kind = OutcomeKind::timeout;
  outcome.message = "the job did not end";
  auto end = end_of(0, 143, SIGTERM, true);
  end.last.state = CollectiveState::running;
  end.last.operation = "rendezvous";
  end.last.label = "10.0.0.1\x1b[2J";
  outcome.ranks.push_back(end);
  CHECK_THAT(failure_text(outcome, plan_of(1), Screen(), false),
             ContainsSubstring("  during   rank 0 was in rendezvous '10.0.0.1?[2J'\n"));
}

}  // namespace muster::launcher
