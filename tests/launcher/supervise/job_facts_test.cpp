#include "supervise/job_facts.hpp"

#include <catch2/catch_test_macros.hpp>

namespace muster::launcher {

TEST_CASE("a job whose ranks ended well is lost if something did not end") {
  JobFacts facts;
  CHECK(outcome_of(facts).kind == OutcomeKind::ok);
  facts.unkillable = {17};
  const Outcome outcome = outcome_of(facts);
  CHECK(outcome.kind == OutcomeKind::lost);
  CHECK(outcome.exit_code == 125);
  CHECK(outcome.message.starts_with("process 17 did not end after SIGKILL"));
}

}  // namespace muster::launcher
