#include "check/checks.hpp"

#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>

#include <array>
#include <chrono>

namespace muster::check {
namespace {

constexpr std::array all{
    Check{"hardware", check_hardware},     Check{"group", check_group},
    Check{"all_reduce", check_all_reduce}, Check{"reduce_scatter", check_reduce_scatter},
    Check{"all_gather", check_all_gather}, Check{"broadcast", check_broadcast},
    Check{"all_to_all", check_all_to_all}, Check{"send, receive", check_send_receive},
    Check{"subgroups", check_subgroups},   Check{"deadlines", check_deadline},
    Check{"data loading", check_data},     Check{"metrics", check_metrics},
    Check{"weights", check_weights},       Check{"training", check_training},
};

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// Collective: the ranks that say so.
std::vector<int> ranks_that(bool says, Communicator& group) {
  const auto device = group.device();
  const auto mine = at::empty({1}, at::kLong).fill_(says ? 1 : 0).to(device);
  const auto answers = at::zeros({group.size()}, at::kLong).to(device);
  group.all_gather(answers, mine, "ranks that found faults").wait();
  const auto counts = answers.to(at::kCPU);
  std::vector<int> ranks;
  for (int rank = 0; rank < group.size(); ++rank) {
    if (counts[rank].item<std::int64_t>() != 0) ranks.push_back(rank);
  }
  return ranks;
}

}  // namespace

std::span<const Check> checks() noexcept { return all; }

std::vector<int> run_checks(Bench& bench, Report& report) {
  std::vector<std::string_view> names;
  for (const auto& check : all) names.push_back(check.name);
  report.announce(names);
  report.facts(rank_facts());
  bool found = false;
  for (const auto& check : all) {
    report.begin(check.name);
    const auto begin = std::chrono::steady_clock::now();
    check.run(bench);
    const auto findings = bench.take_findings();
    found = found || findings.fault_count > 0;
    report.end(check.name, findings, seconds_since(begin));
  }
  return ranks_that(found, bench.group());
}

}  // namespace muster::check
