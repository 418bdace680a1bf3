#include "supervise/restart_policy.hpp"

#include <catch2/catch_test_macros.hpp>

namespace muster::launcher {
namespace {

Outcome failed(int exit_code) {
  Outcome outcome;
  outcome.kind = OutcomeKind::rank_failed;
  outcome.exit_code = exit_code;
  return outcome;
}

TEST_CASE("only failures of ranks are followed by another start, and only so often") {
  LaunchSettings settings;
  CHECK_FALSE(may_restart(settings, failed(1), 0));
  settings.max_restarts = 2;
  CHECK(may_restart(settings, failed(1), 0));
  CHECK(may_restart(settings, failed(137), 1));
  CHECK_FALSE(may_restart(settings, failed(1), 2));
  for (const auto kind : {OutcomeKind::ok, OutcomeKind::usage, OutcomeKind::not_started,
                          OutcomeKind::timeout, OutcomeKind::interrupted, OutcomeKind::lost}) {
    Outcome outcome = failed(1);
    outcome.kind = kind;
    CHECK_FALSE(may_restart(settings, outcome, 0));
  }
}

TEST_CASE("no start while something of the one before is left") {
  LaunchSettings settings;
  settings.max_restarts = 2;
  Outcome outcome = failed(1);
  outcome.left = {17};
  CHECK_FALSE(may_restart(settings, outcome, 0));
}

TEST_CASE("exit codes that are restarted after") {
  LaunchSettings settings;
  settings.max_restarts = 1;
  settings.restart_on = "1,134-139";
  for (const int code : {1, 134, 137, 139}) CHECK(may_restart(settings, failed(code), 0));
  for (const int code : {3, 133, 140}) CHECK_FALSE(may_restart(settings, failed(code), 0));
  settings.restart_on = "1-255";
  for (const int code : {2, 126, 127}) CHECK_FALSE(may_restart(settings, failed(code), 0));
}

}  // namespace
}  // namespace muster::launcher
