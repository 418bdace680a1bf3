#pragma once

#include "topology/cgroup.hpp"
#include "topology/sysroot.hpp"

#include <optional>
#include <string>
#include <vector>

namespace muster::launcher {

/// What this process may use of the host's processors.
struct Cpus {
  std::vector<int> allowed;     ///< Those of the affinity and the cpuset, ascending.
  std::string allowed_by;       ///< What keeps others out: "affinity", "cpuset /a"; empty: nothing.
  int cores = 1;                ///< Physical cores among them: siblings count once.
  std::optional<double> quota;  ///< CPUs' worth of time a control group grants.
  std::string quota_group;      ///< The group that sets it.

  /// Logical CPUs that can run at once: allowed ones, at most the quota rounded up.
  int usable() const;
  /// Threads for each of `local_ranks` ranks that compute: at least 1.
  int threads_for(int local_ranks) const;

  bool operator==(const Cpus&) const = default;
};

/// Reads the affinity, the cpuset and the quotas, each from `root`.
Cpus discover_cpus(const Sysroot& root, const Cgroups& cgroups);

}  // namespace muster::launcher
