#pragma once

#include "check/bench.hpp"

#include <span>
#include <string_view>

namespace muster::check {

/// One thing that `muster test` looks at. All ranks run it; it throws what keeps it from going on.
struct Check {
  std::string_view name;
  void (*run)(Bench& bench);
};

/// All of them, in the order in which they are made.
std::span<const Check> checks() noexcept;

// One a file. The first two need no group; group joins it.
void check_hardware(Bench& bench);
void check_group(Bench& bench);
void check_all_reduce(Bench& bench);
void check_reduce_scatter(Bench& bench);
void check_all_gather(Bench& bench);
void check_broadcast(Bench& bench);
void check_all_to_all(Bench& bench);
void check_send_receive(Bench& bench);
void check_subgroups(Bench& bench);
void check_deadline(Bench& bench);
void check_data(Bench& bench);
void check_metrics(Bench& bench);
void check_weights(Bench& bench);
void check_training(Bench& bench);

/// What LibTorch and this process have on this rank; for the launcher.
RankFacts rank_facts();

/// Makes all checks. The ranks that found faults, of all hosts.
std::vector<int> run_checks(Bench& bench, Report& report);

}  // namespace muster::check
