// What `muster test` starts as the ranks of a job. Without a launcher of ours it says on stdout
// what it finds, a line of JSON each, and exits with 1 for a fault: for a debugger, or under
// torchrun.

#include <muster/contract.hpp>
#include <muster/control.hpp>
#include <muster/error.hpp>
#include <muster/resolve.hpp>

#include "check/checks.hpp"
#include "death_record.hpp"
#include "stack_report.hpp"

#include <cstdlib>
#include <exception>
#include <iostream>
#include <string>

namespace {

using muster::check::Bench;
using muster::check::Report;

/// 1 is for faults that were found.
constexpr int cannot_go_on = 3;

/// The checks choose these themselves; what a person chose for training stays out of it.
void forget_training_settings() {
  for (const auto* name : {"MUSTER_TRAIN_GRADIENT_ACCUMULATION_STEPS", "MUSTER_TRAIN_BUCKET_MB",
                           "MUSTER_TRAIN_SEED", "MUSTER_TRAIN_STRATEGY"}) {
    ::unsetenv(name);
  }
}

int check(const std::string& folder) {
  const auto environment = muster::current_environment();
  Bench bench(muster::World::from_environment(environment),
              muster::resolve_in_rank(environment).settings());
  forget_training_settings();
  Report report(folder, bench.world().rank);
  const auto faulty = muster::check::run_checks(bench, report);
  report.finish(faulty);
  // The launcher judges by what was found: a rank that failed would end the others.
  return faulty.empty() || !folder.empty() ? 0 : 1;
}

}  // namespace

int main() try {
  muster::record_death();
  muster::report_stacks();
  const char* const folder = std::getenv(muster::contract::check_folder.data());
  return check(folder == nullptr ? "" : folder);
} catch (const std::exception& error) {
  muster::Control::instance().death("exception", error.what());
  std::cerr << "muster-check: " << error.what() << '\n';
  return cannot_go_on;
}
