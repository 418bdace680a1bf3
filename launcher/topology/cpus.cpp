#include "topology/cpus.hpp"

#include "text.hpp"
#include "topology/cpu_list.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <sched.h>
#include <set>

namespace muster::launcher {
namespace {

/// The kernel refuses a mask smaller than its own, so it grows until it fits.
std::vector<int> live_affinity() {
  for (std::size_t count = 1024; count <= 1 << 20; count *= 2) {
    cpu_set_t* set = CPU_ALLOC(count);
    const auto bytes = CPU_ALLOC_SIZE(count);
    std::vector<int> cpus;
    const bool fits = sched_getaffinity(0, bytes, set) == 0;
    for (std::size_t cpu = 0; fits && cpu < count; ++cpu) {
      if (CPU_ISSET_S(cpu, bytes, set)) cpus.push_back(static_cast<int>(cpu));
    }
    CPU_FREE(set);
    if (fits) return cpus;
  }
  return {};
}

std::vector<int> recorded_affinity(const Sysroot& root) {
  const auto status = root.read("/proc/self/status").value_or("");
  return parse_cpu_list(field(status, "Cpus_allowed_list")).value_or(std::vector<int>());
}

int count_cores(const Sysroot& root, const std::vector<int>& cpus) {
  if (root.read("/sys/devices/system/cpu/smt/active").value_or("") == "0") {
    return static_cast<int>(cpus.size());
  }
  std::set<int> seen;
  int cores = 0;
  for (const int cpu : cpus) {
    if (!seen.insert(cpu).second) continue;
    ++cores;
    const auto folder = "/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/";
    auto siblings = root.read(folder + "thread_siblings_list");
    if (!siblings) siblings = root.read(folder + "core_cpus_list");
    for (const int sibling : parse_cpu_list(siblings.value_or("")).value_or(std::vector<int>())) {
      seen.insert(sibling);
    }
  }
  return cores;
}

}  // namespace

int Cpus::usable() const {
  const int count = static_cast<int>(allowed.size());
  return quota ? std::clamp(static_cast<int>(std::ceil(*quota)), 1, count) : count;
}

int Cpus::threads_for(int local_ranks) const {
  const double budget = quota ? std::min<double>(*quota, cores) : cores;
  return std::max(1, static_cast<int>(std::floor(budget / std::max(1, local_ranks))));
}

Cpus discover_cpus(const Sysroot& root, const Cgroups& cgroups) {
  Cpus cpus;
  cpus.allowed = root.is_live() ? live_affinity() : recorded_affinity(root);
  const auto online = parse_cpu_list(root.read("/sys/devices/system/cpu/online").value_or(""));
  if (online && !online->empty()) {
    // A recorded affinity may name CPUs that could be plugged in one day.
    cpus.allowed = cpus.allowed.empty() ? *online : intersect(cpus.allowed, *online);
  }
  if (online && cpus.allowed != *online) cpus.allowed_by = "affinity";
  if (const auto cpuset = cgroups.cpuset()) {
    auto both = intersect(cpus.allowed, cpuset->value);
    // The kernel has put the cpuset into the affinity already: where both say the same, it was it.
    const bool decides = online && both.size() < online->size() &&
                         (both != cpus.allowed || both == intersect(cpuset->value, *online));
    if (!both.empty() && decides) cpus.allowed_by = "cpuset " + cpuset->group;
    if (!both.empty()) cpus.allowed = std::move(both);
  }
  if (cpus.allowed.empty()) cpus.allowed = {0};
  cpus.cores = count_cores(root, cpus.allowed);
  if (auto quota = cgroups.cpu_quota()) {
    cpus.quota = quota->value;
    cpus.quota_group = quota->group;
  }
  return cpus;
}

}  // namespace muster::launcher
