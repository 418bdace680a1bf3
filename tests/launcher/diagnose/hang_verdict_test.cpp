// From what was found of all ranks to the one line that says what they do.

#include "diagnose/hang_text.hpp"
#include "diagnose/verdict.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <csignal>
#include <functional>
#include <string>
#include <vector>

namespace muster::launcher {
namespace {

using Catch::Matchers::ContainsSubstring;

constexpr std::int64_t second = 1'000'000'000;

ControlNote in_collective(const std::string& operation, std::uint64_t sequence,
                          const std::string& label, const std::string& tensor) {
  ControlNote note;
  note.operation = operation;
  note.sequence = sequence;
  note.label = label;
  note.tensor = tensor;
  note.bytes = 4096;
  note.step = 40;
  note.state = CollectiveState::running;
  note.waiting = 1;
  note.since_ns = 8 * second;
  return note;
}

ControlNote gradients() { return in_collective("all_reduce", 812, "gradients", "float32 [1024]"); }

ControlNote own_code() {
  auto note = gradients();
  note.sequence = 811;
  note.state = CollectiveState::done;
  note.waiting = 0;
  return note;
}

/// Four ranks that wait for the gradients; `change` makes another of it.
HangFacts four(const std::function<void(std::vector<RankState>&)>& change = {}) {
  HangFacts facts;
  facts.world_size = 4;
  facts.now_ns = 10 * second;
  for (int rank = 0; rank < 4; ++rank) {
    RankState state;
    state.rank = rank;
    state.pid = 100 + rank;
    state.ready = true;
    state.state = 'S';
    state.waits_in = "futex_wait";
    state.note = gradients();
    facts.ranks.push_back(std::move(state));
  }
  if (change) change(facts.ranks);
  return facts;
}

/// One row: what is changed of four ranks that wait, and what is said of them then.
struct Row {
  const char* name;
  std::function<void(std::vector<RankState>&)> change;
  std::string verdict;
};

TEST_CASE("a verdict says what each rank does, those alike together") {
  using Ranks = std::vector<RankState>;
  const Row rows[] = {
      {"all in the same collective", [](Ranks&) {},
       "all 4 ranks wait in all_reduce #812 'gradients': each has started it, so the data do not "
       "come through"},
      {"one in its own code", [](Ranks& ranks) { ranks[1].note = own_code(); },
       "ranks 0, 2, 3 wait in all_reduce #812 'gradients'; rank 1 is in its own code at step 40"},
      {"two of them", [](Ranks& ranks) { ranks[1].note = ranks[2].note = own_code(); },
       "ranks 0, 3 wait in all_reduce #812 'gradients'; ranks 1, 2 are in their own code at step "
       "40"},
      {"before its first step",
       [](Ranks& ranks) {
         ranks[0].note = own_code();
         ranks[0].note->step = 0;
       },
       "ranks 1-3 wait in all_reduce #812 'gradients'; rank 0 is in its own code before its first "
       "step"},
      {"different collectives",
       [](Ranks& ranks) {
         ranks[1].note = in_collective("broadcast", 812, "weights", "float32 [8]");
       },
       "ranks 0, 2, 3 wait in all_reduce #812 'gradients'; rank 1 waits in broadcast #812 "
       "'weights'"},
      {"a wrong shape", [](Ranks& ranks) { ranks[3].note->tensor = "float32 [1025]"; },
       "ranks 0-2 wait in all_reduce #812 'gradients' of float32 [1024]; rank 3 waits in "
       "all_reduce #812 'gradients' of float32 [1025]"},
      {"one exited early",
       [](Ranks& ranks) {
         ranks[2].note = own_code();
         ranks[2].ended = true;
       },
       "ranks 0, 1, 3 wait in all_reduce #812 'gradients'; rank 2 has exited with 0 at step 40"},
      {"one was killed",
       [](Ranks& ranks) {
         ranks[2].ended = true;
         ranks[2].signal = SIGKILL;
       },
       "ranks 0, 1, 3 wait in all_reduce #812 'gradients'; rank 2 has died of SIGKILL at step 40"},
      {"one is stopped",
       [](Ranks& ranks) {
         ranks[1].note = own_code();
         ranks[1].state = 'T';
       },
       "ranks 0, 2, 3 wait in all_reduce #812 'gradients'; rank 1 is stopped (SIGSTOP) in its own "
       "code at step 40"},
      {"one is stopped in the collective", [](Ranks& ranks) { ranks[1].state = 'T'; },
       "ranks 0, 2, 3 wait in all_reduce #812 'gradients'; rank 1 is stopped (SIGSTOP) in "
       "all_reduce #812 'gradients'"},
      {"a debugger holds one",
       [](Ranks& ranks) {
         ranks[1].note = own_code();
         ranks[1].state = 't';
         ranks[1].tracer = 77;
         ranks[1].tracer_name = "gdb";
       },
       "ranks 0, 2, 3 wait in all_reduce #812 'gradients'; rank 1 is held by gdb (pid 77) in its "
       "own code at step 40"},
      {"one is busy",
       [](Ranks& ranks) {
         ranks[0].note = own_code();
         ranks[0].note->busy = "save_model";
         ranks[0].note->busy_ns = 7 * second;
       },
       "ranks 1-3 wait in all_reduce #812 'gradients'; rank 0 is busy with save_model for 3.0 s at "
       "step 40"},
      {"one has started it and computes on", [](Ranks& ranks) { ranks[0].note->waiting = 0; },
       "ranks 1-3 wait in all_reduce #812 'gradients'; rank 0 is in its own code at step 40, with "
       "all_reduce #812 'gradients' under way"},
      {"one has not joined",
       [](Ranks& ranks) {
         for (auto& rank : ranks) rank.note = in_collective("connect", 0, "world-1", "");
         ranks[3].ready = false;
         ranks[3].note = ControlNote{};
       },
       "ranks 0-2 wait in connect 'world-1'; rank 3 has not joined the others yet"},
      {"all still join",
       [](Ranks& ranks) {
         for (auto& rank : ranks) rank.note = in_collective("rendezvous", 0, "10.0.0.1", "");
       },
       "all 4 ranks wait in rendezvous '10.0.0.1'"},
      {"one has given up", [](Ranks& ranks) { ranks[1].note->state = CollectiveState::failed; },
       "ranks 0, 2, 3 wait in all_reduce #812 'gradients'; rank 1 has given up all_reduce #812 "
       "'gradients'"},
  };
  for (const auto& row : rows) {
    INFO(row.name);
    CHECK(verdict(four(row.change)) == row.verdict);
  }
}

TEST_CASE("of a program that reports nothing only its processes are told") {
  const auto silent = [](std::vector<RankState>& ranks) {
    for (auto& rank : ranks) {
      rank.ready = false;
      rank.note = ControlNote{};
    }
  };
  CHECK(verdict(four(silent)) ==
        "no rank reports to muster, so only processes can be seen: all 4 ranks sleep in "
        "futex_wait");
  CHECK(verdict(four([&](auto& ranks) {
          silent(ranks);
          ranks[0].state = 'R';
          ranks[1].state = 'D';
          ranks[1].waits_in = "nfs_wait";
          ranks[2].state = 'T';
          ranks[3].note.reset();
          ranks[3].waits_in.clear();
        })) ==
        "no rank reports to muster, so only processes can be seen: rank 0 runs; rank 1 is stuck in "
        "the kernel in nfs_wait; rank 3 sleeps; rank 2 is stopped (SIGSTOP)");
}

TEST_CASE("a mismatch tells the tensors even where they are equal") {
  auto facts = four([](auto& ranks) {
    ranks[1].note = in_collective("broadcast", 812, "weights", "float32 [8]");
  });
  facts.cause.kind = HangCause::Kind::mismatch;
  CHECK(verdict(facts) ==
        "ranks 0, 2, 3 wait in all_reduce #812 'gradients' of float32 [1024]; rank 1 waits in "
        "broadcast #812 'weights' of float32 [8]");
}

TEST_CASE("ranks of other hosts are not spoken for") {
  auto facts = four();
  facts.world_size = 8;
  CHECK(verdict(facts) == "ranks 0-3 wait in all_reduce #812 'gradients'");
}

TEST_CASE("a verdict on a thousand ranks that all differ stays one line") {
  HangFacts facts;
  facts.world_size = 1000;
  for (int rank = 0; rank < 1000; ++rank) {
    RankState state;
    state.rank = rank;
    state.ready = true;
    state.state = 'S';
    state.note = own_code();
    state.note->step = static_cast<std::uint64_t>(rank) + 1;
    facts.ranks.push_back(std::move(state));
  }
  CHECK(verdict(facts).size() < 400);
  CHECK_THAT(verdict(facts), ContainsSubstring("995 more do other things"));
  CHECK(hang_text(facts, {}).size() < 4000);
}

TEST_CASE("below the verdict stand the ranks, and equal stacks once") {
  auto facts = four([](auto& ranks) {
    for (auto& rank : ranks) {
      rank.threads.push_back({rank.pid, "train", {{0x10, "wait", "libc.so.6", 0x10}}, ""});
      rank.threads[0].frames.push_back({0x20, "", "train", 0x2abc});
    }
    ranks[1].threads.clear();
    ranks[1].unread = "a reason";
  });
  facts.cause = {HangCause::Kind::deadline, 2, "", 0};
  const auto text = hang_text(facts, {});
  CHECK_THAT(text, ContainsSubstring("muster: rank 2 has waited too long: all 4 ranks wait in"));
  CHECK_THAT(text, ContainsSubstring("rank 0   pid 100, step 40: "
                                     "all_reduce #812 'gradients' of float32 [1024], 4 KiB, "
                                     "running for 2.0 s\n"));
  CHECK_THAT(text, ContainsSubstring("stack of ranks 0, 2, 3\n    wait  (libc.so.6)\n"
                                     "    train+0x2abc\n"));
  CHECK_THAT(text, ContainsSubstring("(no stack was read: a reason)"));
}

}  // namespace
}  // namespace muster::launcher
