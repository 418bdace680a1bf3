#pragma once

#include <muster/ranks.hpp>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <string>
#include <vector>

namespace muster {

enum class Better : std::uint8_t { lower, higher };

struct EarlyStoppingOptions {
  int patience = 3;      ///< Values in a row without progress that are borne.
  double min_delta = 0;  ///< What counts as progress is more than this.
  Better better = Better::lower;
};

/// Says when a value has not become better for long. All ranks give one and get the same answer:
/// rank 0's value decides. NaN is no progress.
class EarlyStopping {
 public:
  explicit EarlyStopping(const Ranks& ranks, const EarlyStoppingOptions& options = {});
  /// Collective.
  bool should_stop(double value);
  double best() const noexcept { return best_; }  ///< NaN before the first.
  int without_progress() const noexcept { return without_; }
  /// Where it stands, to go on from.
  std::string state() const;
  /// Throws CheckpointError for what state() did not make.
  void load_state(const std::string& state);

 private:
  Ranks ranks_;
  EarlyStoppingOptions options_;
  double best_ = std::numeric_limits<double>::quiet_NaN();
  int without_ = 0;
};

/// Keeps the checkpoints with the best values in a folder, and a list of them, best.json, in which
/// a program that is started anew finds them again.
class BestCheckpoints {
 public:
  /// `most`: how many stay. Collective; rank 0 reads. Throws ConfigError for less than 1,
  /// CheckpointError for a damaged list.
  BestCheckpoints(const Ranks& ranks, std::filesystem::path folder, int most,
                  Better better = Better::lower);

  struct Kept {
    std::string name;
    double value;
  };
  /// If `value` (rank 0's decides; it has to be finite) is among the best: calls `save` with folder
  /// / name on all ranks, then removes the one that has become too much. Returns whether.
  /// Collective.
  bool offer(double value, const std::string& name,
             const std::function<void(const std::filesystem::path&)>& save);
  const std::vector<Kept>& kept() const noexcept { return kept_; }  ///< The best first.
  std::filesystem::path path(const Kept& kept) const { return folder_ / kept.name; }

 private:
  void write_list() const;

  Ranks ranks_;
  std::filesystem::path folder_;
  std::size_t most_;
  Better better_;
  std::vector<Kept> kept_;
};

}  // namespace muster
