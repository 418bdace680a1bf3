#include "supervise/blame.hpp"

#include <catch2/catch_test_macros.hpp>

#include <csignal>

namespace muster::launcher {
namespace {

constexpr std::int64_t ms = 1'000'000;
constexpr std::int64_t start = 1'000'000 * ms;

Evidence exited(int code, std::int64_t at_ms) {
  Evidence rank;
  rank.exit_code = code;
  rank.end_ns = start + at_ms * ms;
  return rank;
}

Evidence killed(int signal, std::int64_t at_ms) {
  Evidence rank = exited(128 + signal, at_ms);
  rank.signal = signal;
  return rank;
}

Evidence stopped(Evidence rank) {
  rank.stopped_by_us = true;
  return rank;
}

Evidence with_record(Evidence rank, std::int64_t at_ms, std::string reason, std::string text = "") {
  rank.death_record_ns = start + at_ms * ms;
  rank.reason = std::move(reason);
  rank.text = std::move(text);
  return rank;
}

Evidence with_line(Evidence rank, std::int64_t at_ms, std::string text) {
  rank.stderr_lines.push_back({std::move(text), start + at_ms * ms});
  return rank;
}

std::optional<std::size_t> named(const std::vector<Evidence>& ranks, std::int64_t stopped_ms) {
  return first_failure(ranks, start + stopped_ms * ms);
}

TEST_CASE("nobody failed") { CHECK_FALSE(named({exited(0, 1), exited(0, 2)}, 0)); }

TEST_CASE("the first to exit is named if nothing else is known") {
  CHECK(named({exited(0, 1), exited(9, 40), exited(7, 10), stopped(killed(SIGTERM, 50))}, 10) ==
        2U);
}

TEST_CASE("a death record tells the time better than the exit does") {
  CHECK(named({exited(9, 30), with_record(exited(7, 60), 5, "exception", "boom")}, 30) == 1U);
  // Who had ended before the record was made cannot be its consequence.
  CHECK(named({exited(7, 10), with_record(exited(9, 50), 40, "exception", "later")}, 10) == 0U);
}

TEST_CASE("words that were read after the first end, but before anybody was stopped") {
  const Evidence spoke =
      stopped(with_line(exited(7, 300), 12, "Error: label 11 is not in [0, 10)"));
  CHECK(named({exited(9, 10), spoke}, 13) == 1U);
  // Among several who spoke, who spoke first.
  CHECK(named({with_line(exited(9, 10), 5, "Error: the cause"), spoke}, 13) == 0U);
  // Who spoke after the stop may only follow.
  CHECK(named({exited(9, 10), spoke}, 11) == 0U);
}

TEST_CASE("a large rank that said an error before it died slowly") {
  CHECK(named({exited(9, 30), with_line(exited(7, 150), 2, "Error: no more images")}, 30) == 1U);
  // However slowly.
  CHECK(named({exited(9, 30), with_line(exited(7, 4000), 2, "Error: no more images")}, 30) == 1U);
}

TEST_CASE("lines that are no error, or old, say nothing") {
  CHECK(named({exited(9, 30), with_line(exited(7, 150), 2, "epoch 2 done")}, 30) == 0U);
  CHECK(named({exited(9, 3000), with_line(exited(7, 3010), 2, "error: retrying")}, 3000) == 0U);
}

TEST_CASE("who lost its peer is a consequence") {
  SECTION("by its record") {
    CHECK(named({with_record(exited(1, 20), 10, "communication", "rank 1 is gone"), exited(3, 30)},
                20) == 1U);
  }
  SECTION("by what it printed") {
    CHECK(named({with_line(exited(1, 20), 10, "RuntimeError: Connection closed by peer"),
                 killed(SIGKILL, 60)},
                20) == 1U);
  }
  SECTION("by a closed pipe") { CHECK(named({killed(SIGPIPE, 20), exited(3, 30)}, 20) == 1U); }
  SECTION("unless nobody else failed") {
    CHECK(named({with_record(exited(1, 20), 10, "communication"), exited(0, 1)}, 20) == 0U);
  }
}

TEST_CASE("a crash is no consequence, whatever was printed before") {
  CHECK(named({with_line(killed(SIGSEGV, 20), 10, "connection reset"), exited(3, 30)}, 20) == 0U);
}

TEST_CASE("ranks that we stopped are not blamed") {
  CHECK(named({stopped(exited(143, 12)), exited(7, 20)}, 20) == 1U);
  CHECK(named({stopped(with_line(killed(SIGTERM, 40), 5, "error: slow disk")), exited(7, 20)},
              20) == 1U);
  // Its handler for SIGTERM failed.
  CHECK(named({stopped(with_line(exited(1, 40), 35, "error: cannot save")), exited(7, 20)}, 20) ==
        1U);
}

TEST_CASE("a rank that was dying when we stopped the others may be the first") {
  CHECK(named({exited(7, 20), stopped(with_record(killed(SIGTERM, 60), 15, "exception"))}, 20) ==
        1U);
  CHECK(named({exited(7, 20), stopped(with_line(exited(1, 60), 15, "fatal: lost"))}, 20) == 1U);
}

TEST_CASE("what looks like an error") {
  for (const char* line : {"RuntimeError: x", "terminate called after throwing", "  what():  boom",
                           "FATAL", "Assertion `a' failed", "Traceback (most recent call last):"})
    CHECK(looks_like_error(line));
  for (const char* line : {"", "epoch 1", "loss 0.2", "saved model"})
    CHECK_FALSE(looks_like_error(line));
  CHECK(looks_like_lost_peer("[gloo] Connection closed by peer [127.0.0.1]"));
  CHECK_FALSE(looks_like_lost_peer("label 11 is not in [0, 10)"));
}

TEST_CASE("a rank that was dumping core when the others were stopped was dead before them") {
  Evidence dumping = killed(SIGSEGV, 4000);
  dumping.core_dumped = true;
  CHECK(named({exited(9, 30), dumping}, 30) == 1U);
  // One that crashed because it was stopped was not.
  CHECK(named({exited(9, 30), stopped(dumping)}, 30) == 0U);
}

TEST_CASE("who missed a peer says so") {
  const auto missed = [](const Evidence& rank) { return is_for_want_of_a_peer(rank, start); };
  CHECK(missed(with_record(exited(1, 0), 0, "communication")));
  CHECK(missed(with_line(exited(1, 0), 0, "RuntimeError: Timed out waiting 5000ms for recv")));
  CHECK_FALSE(missed(with_line(exited(1, 0), 0, "Error: no label")));
  // However long it took to end after that.
  Evidence slow = exited(1, 5000);
  slow.text = "RuntimeError: Connection reset by peer";
  CHECK(missed(slow));
  CHECK_FALSE(missed(with_line(killed(SIGSEGV, 0), 0, "connection reset by peer")));
}

}  // namespace
}  // namespace muster::launcher
