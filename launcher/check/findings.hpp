#pragma once

#include "plan.hpp"

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace muster::launcher {

/// A difference between what had to be and what a rank found.
struct CheckFault {
  int rank = 0;
  std::string where, expected, found;
};

/// What became of a check.
enum class CheckResult {
  ok,
  fault,
  not_checked,  ///< All ranks made it, and there was nothing that can be checked here.
  under_way,    ///< Ranks were in it when the job ended.
  not_made,     ///< The job ended before.
};
/// "ok", "fault", "not_checked", "under_way", "not_made"
std::string_view to_text(CheckResult result);

/// One check, as the ranks of this host made it.
struct CheckRow {
  std::string name;
  std::string looked_at;                 ///< For people; empty: nothing.
  std::vector<std::string> not_checked;  ///< Parts that cannot be checked here, and why.
  std::vector<CheckFault> faults;        ///< The first few of each rank.
  std::size_t fault_count = 0;           ///< All of them.
  double seconds = 0;                    ///< Of the slowest rank.
  std::vector<int> ended, under_way;     ///< Ranks.

  CheckResult result() const;
};

/// What a rank says of itself.
struct CheckedRank {
  std::vector<int> cpus;
  int threads = 0;
  std::string device, libtorch;
};

/// All that the ranks of this host found.
struct Findings {
  std::vector<CheckRow> rows;        ///< In the order in which they are made.
  std::map<int, CheckedRank> ranks;  ///< Those that said so, by rank.
  std::vector<int> unfinished;       ///< Ranks that did not come to the end.
  std::vector<int> faulty;           ///< Of all hosts, as the ranks told each other at the end.

  /// No fault, and all checks made on all ranks.
  bool all_ok() const;
};

/// Reads what the ranks of `plan` left in its folder (runtime/check/report.hpp). What is missing or
/// cut off is no error: ranks may have died.
Findings read_findings(const Plan& plan);

/// Adds to the first check what ranks have and the plan did not give them.
void compare_with_plan(const Plan& plan, Findings& findings);

}  // namespace muster::launcher
