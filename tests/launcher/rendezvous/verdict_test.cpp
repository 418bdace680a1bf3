#include "rendezvous/verdict.hpp"

#include <catch2/catch_test_macros.hpp>

namespace muster::launcher {
namespace {

Testimony well(int node) { return {node, {}, 0}; }

Testimony failed(int node, int rank, int exit_code, std::int64_t began_ns,
                 bool consequence = false) {
  Testimony one;
  one.node = node;
  one.report.kind = OutcomeKind::rank_failed;
  one.report.exit_code = exit_code;
  one.report.consequence = consequence;
  one.report.first.emplace().rank = rank;
  one.began_ns = began_ns;
  return one;
}

Testimony obeyed(int node) {
  Testimony one;
  one.node = node;
  one.report.kind = OutcomeKind::interrupted;
  one.report.exit_code = 143;
  one.report.by_others = true;
  one.began_ns = 1;
  return one;
}

constexpr std::int64_t second = 1'000'000'000;

}  // namespace

TEST_CASE("all is well only if it is on every host") {
  CHECK(decide(std::vector{well(0), well(1)}).report.kind == OutcomeKind::ok);
  const auto verdict = decide(std::vector{well(0), failed(1, 3, 7, 5 * second), well(2)});
  CHECK(verdict.node == 1);
  CHECK(verdict.report.exit_code == 7);
  CHECK(verdict.report.first->rank == 3);
}

TEST_CASE("the first failure of all hosts is the job's, and no host's obedience") {
  CHECK(decide(std::vector{failed(0, 0, 9, 2 * second), failed(1, 3, 7, second)}).node == 1);
  CHECK(decide(std::vector{obeyed(0), failed(1, 3, 7, second), obeyed(2)}).node == 1);
}

TEST_CASE("a rank that speaks of a lost peer is blamed only if nobody else is") {
  const auto peer = failed(0, 0, 1, second, true);
  CHECK(decide(std::vector{peer, failed(1, 3, 7, 2 * second)}).node == 1);
  CHECK(decide(std::vector{peer, obeyed(1)}).node == 0);
}

TEST_CASE("a host that is gone comes before what its end did to others") {
  const auto lost = lost_host(1, "node 1 is lost", 10 * second, 0);
  CHECK(lost.report.exit_code == 125);
  CHECK(decide(std::vector{failed(0, 0, 1, 10 * second - 200'000'000), lost}).node == 1);
  CHECK(decide(std::vector{failed(0, 0, 1, 3 * second, true), lost}).node == 1);
  // What failed long before was not its doing.
  CHECK(decide(std::vector{failed(0, 0, 1, 3 * second), lost}).node == 0);
  // It was gone for as long as it was silent.
  const auto silent = lost_host(1, "node 1 is lost", 30 * second, 15 * second);
  CHECK(decide(std::vector{failed(0, 0, 1, 20 * second), silent}).node == 1);
}

TEST_CASE("every host ends as was decided, and says where it began") {
  Outcome own;
  own.kind = OutcomeKind::interrupted;
  own.exit_code = 143;
  own.ranks.resize(2);
  const auto other = as_decided(own, {1, failed(1, 3, 7, 0).report}, "node 1 (b, 10.0.0.2)");
  CHECK(other.kind == OutcomeKind::rank_failed);
  CHECK(other.exit_code == 7);
  CHECK(other.where == "node 1 (b, 10.0.0.2)");
  CHECK(other.first->rank == 3);
  CHECK(other.ranks.size() == 2);

  NodeReport timeout;
  timeout.kind = OutcomeKind::timeout;
  timeout.exit_code = 124;
  timeout.message = "the job did not end within 5 s";
  CHECK(as_decided(own, {1, timeout}, "node 1").message ==
        "node 1: the job did not end within 5 s");
  const auto lost = lost_host(1, "node 1 is lost: gone", 0, 0);
  CHECK(as_decided(own, {1, lost.report}, "node 1").message == "node 1 is lost: gone");
}

TEST_CASE("a report says how long ago it began, for clocks of hosts differ") {
  Outcome outcome;
  outcome.kind = OutcomeKind::rank_failed;
  outcome.began_ns = 3 * second;
  CHECK(report_of(outcome, 5 * second).age_ns == 2 * second);
  CHECK(report_of(Outcome{}, 5 * second).age_ns == 0);
}

}  // namespace muster::launcher
