// When steps that stand still are a hang, and when they are not.

#include "diagnose/stall.hpp"

#include <catch2/catch_test_macros.hpp>

#include <vector>

namespace muster::launcher {
namespace {

constexpr std::int64_t limit = 100;

StallCheck at(std::int64_t now, const std::vector<Pulse>& pulses, std::int64_t resumed = 0) {
  return check_stall(pulses, now, resumed, limit, true);
}

TEST_CASE("a rank that gives no sign of life for as long as was allowed stands still") {
  const std::vector<Pulse> pulses{{0, 40, 1000}, {1, 40, 1010}};
  CHECK_FALSE(at(1099, pulses).stall);
  CHECK(at(1099, pulses).look_again_ns == 1100);
  REQUIRE(at(1100, pulses).stall);
  CHECK(at(1100, pulses).stall->rank == 0);
  CHECK(at(1100, pulses).stall->since_ns == 1000);
}

TEST_CASE("the rank that others wait for is named, not those who wait") {
  const std::vector<Pulse> pulses{{0, 40, 1000, true}, {1, 40, 1010}, {2, 40, 1000, true}};
  REQUIRE(at(1200, pulses).stall);
  CHECK(at(1200, pulses).stall->rank == 1);
}

TEST_CASE("who waits for a rank that moves does not stand still") {
  const std::vector<Pulse> pulses{{0, 40, 1000, true}, {1, 40, 5000}};
  CHECK_FALSE(at(5050, pulses).stall);
  CHECK(at(5050, pulses).look_again_ns == 5100);
  REQUIRE(at(5100, pulses).stall);
  CHECK(at(5100, pulses).stall->rank == 1);
}

TEST_CASE("when all wait, the first of them is named") {
  const std::vector<Pulse> pulses{{0, 40, 1020, true}, {1, 40, 1000, true}};
  CHECK_FALSE(at(1110, pulses).stall);
  REQUIRE(at(1120, pulses).stall);
  CHECK(at(1120, pulses).stall->rank == 1);
}

TEST_CASE("nobody stands still before the first step") {
  CHECK_FALSE(at(100000, {{0, 0, 10}, {1, 0, 0}}).stall);
  CHECK_FALSE(at(100000, {}).stall);
  CHECK(at(100000, {}).look_again_ns > 100000);
  // One of them has begun.
  CHECK(at(100000, {{0, 0, 10}, {1, 1, 20}}).stall);
}

TEST_CASE("a rank that is busy excuses all, and is looked at again") {
  const std::vector<Pulse> pulses{{0, 40, 1000, false, true}, {1, 40, 1000, true}};
  CHECK_FALSE(at(100000, pulses).stall);
  CHECK(at(100000, pulses).look_again_ns > 100000);
  CHECK(at(100000, pulses).look_again_ns <= 100000 + limit);
}

TEST_CASE("time that the job was stopped does not count") {
  const std::vector<Pulse> pulses{{0, 40, 1000}};
  CHECK_FALSE(at(9050, pulses, 9000).stall);
  CHECK(at(9050, pulses, 9000).look_again_ns == 9100);
  CHECK(at(9100, pulses, 9000).stall);
}

TEST_CASE("who waits may wait for a rank of another host, which nobody here can see") {
  const std::vector<Pulse> waiting{{0, 40, 1000, true}, {1, 40, 1000, true}};
  CHECK_FALSE(check_stall(waiting, 5000, 0, limit, false).stall);
  CHECK(check_stall(waiting, 5000, 0, limit, true).stall);
  const std::vector<Pulse> at_work{{0, 40, 1000, true}, {1, 40, 1000}};
  REQUIRE(check_stall(at_work, 5000, 0, limit, false).stall);
  CHECK(check_stall(at_work, 5000, 0, limit, false).stall->rank == 1);
}

}  // namespace
}  // namespace muster::launcher
