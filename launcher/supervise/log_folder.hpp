#pragma once

#include "plan.hpp"
#include "supervise/log_file.hpp"

#include <array>
#include <string>
#include <vector>

namespace muster::launcher {

/// `--log-dir`: two files a rank, "rank-3.stdout" and "rank-3.stderr", by its number in the whole
/// job. After a restart they lie in "restart-1", "restart-2", ... of the folder. What an earlier
/// job has left there moves to "earlier-1", "earlier-2", ..., so that nothing is mixed or lost.
class LogFolder {
 public:
  /// No files.
  LogFolder() = default;
  /// Makes the folder and all files, which are empty; none if `folder` is empty. Throws
  /// ConfigError, with nothing moved, if the folder cannot be written to. A restarted job, which
  /// shall not end for that, goes on without files: see fault().
  LogFolder(const std::string& folder, const Plan& plan);

  /// Whether there are files.
  bool exists() const noexcept { return !files_.empty(); }
  /// The rank's file for descriptor 1 or 2: once.
  LogFile take(std::size_t rank, int target);
  /// Where it is, relative where the folder was given so; empty without files.
  std::string path_of(std::size_t rank, int target) const;
  /// Why a restarted job has no files; empty if it has.
  const std::string& fault() const noexcept { return fault_; }

 private:
  void make(const std::string& folder, const Plan& plan);

  std::vector<std::array<LogFile, 2>> files_;
  std::vector<std::array<std::string, 2>> paths_;
  std::string fault_;
};

}  // namespace muster::launcher
