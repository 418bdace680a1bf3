// A rank that does not come: the others get an error that names it, when the deadline passes.

#include <muster/communication_error.hpp>
#include <muster/control.hpp>

#include "check/checks.hpp"

#include <ATen/ops/empty.h>

#include <chrono>
#include <string>
#include <thread>

namespace muster::check {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

constexpr milliseconds deadline{200};
/// The rank that stays away frees the others then, if the deadline did not.
constexpr milliseconds patience{10'000};

/// The launcher need not look into what is meant to happen.
struct Expected {
  Expected() { Control::instance().expect_stuck(true); }
  Expected(const Expected&) = delete;
  Expected& operator=(const Expected&) = delete;
  ~Expected() { Control::instance().expect_stuck(false); }
};

void wait_in_vain(Bench& bench, Communicator& part) {
  const auto begin = Clock::now();
  const int absent = part.size() - 1;
  try {
    part.barrier("a rank stays away").wait(deadline);
    bench.fault("a barrier without rank " + std::to_string(absent), "no end", "it ended well");
  } catch (const CommunicationTimeout& error) {
    const auto waited = std::chrono::duration_cast<milliseconds>(Clock::now() - begin);
    bench.expect(waited >= deadline, "time until the error", "at least 200 ms",
                 std::to_string(waited.count()) + " ms");
    const auto& peers = error.details().peers;
    const bool named = peers.empty() || peers == std::vector<int>{absent};
    bench.expect(named, "the rank that is missed", std::to_string(absent), error.what());
  } catch (const CommunicationError& error) {
    const auto waited = std::chrono::duration_cast<milliseconds>(Clock::now() - begin);
    // Another rank, whose deadline passed a moment before, may have told this one.
    const bool told = part.size() > 2 && waited < patience;
    bench.expect(told, "a barrier without its last rank", "a timeout after 200 ms",
                 "after " + std::to_string(waited.count()) + " ms: " + error.what());
  }
}

void stay_away(Communicator& group, Communicator& part) {
  auto met = group.barrier("after the deadline");
  const auto end = Clock::now() + patience;
  while (!met.done() && Clock::now() < end) std::this_thread::sleep_for(milliseconds(5));
  if (!met.done()) part.abort("the deadline of 200 ms did not end it");
  met.wait();
}

}  // namespace

void check_deadline(Bench& bench) {
  auto& group = bench.group();
  if (group.size() == 1) {
    bench.not_checked("deadlines: one rank waits for nobody; -n 2 checks it");
    return;
  }
  const Expected expected;
  const auto part = group.split(0, group.rank());
  if (group.rank() == group.size() - 1) {
    stay_away(group, *part);
  } else {
    wait_in_vain(bench, *part);
    group.barrier("after the deadline").wait();
  }
  bench.looked_at("who does not come is named after 200 ms");
}

}  // namespace muster::check
