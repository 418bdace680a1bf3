#pragma once

#include <muster/communicator.hpp>
#include <muster/strategy.hpp>

#include "flat_model.hpp"
#include "gradient_buffers.hpp"
#include "window_report.hpp"

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <vector>

namespace muster {

/// What a reduction over the ranks makes of gradients.
enum class Reduction {
  mean,  ///< Their sum, divided once by the weight of the micro-steps in it.
  sum,
};

/// Reduces the buckets of one window over the ranks, one after the other in index order, which is
/// the same on all ranks whatever the order of their gradients.
class BucketReduction {
 public:
  BucketReduction(const FlatModel& model, Communicator& communicator, StrategyCounters& counters);

  /// How many were started.
  std::size_t started() const noexcept { return works_.size(); }
  bool has_started(std::size_t bucket) const noexcept { return bucket < works_.size(); }
  /// Starts the mean of the next bucket inside a backward. The bucket takes in its parameters'
  /// gradients: the sum of backwards that together count `weight`.
  void start(const GradientBuffers& buffers, double weight);
  /// Starts the last bucket with `own` (whose left, steps and late are set), waits for all, and
  /// returns the sums. If it throws, buckets hold anything; the next start() begins anew.
  /// `reduction` is of the buckets that were not started.
  WindowReport finish(const GradientBuffers& buffers, double weight, Reduction reduction,
                      WindowReport own);
  /// The next start() begins with the first bucket.
  void reset() noexcept { works_.clear(); }

  /// From now on looks which slots are not finite when their bucket is sent; forgets what it saw.
  void trace(bool on) { broken_.assign(on ? model_.slots().size() : 0, false); }
  bool was_broken(std::size_t slot) const { return !broken_.empty() && broken_[slot]; }

 private:
  void take_in(const GradientBuffers& buffers, double weight);
  void submit(const GradientBuffers& buffers, Reduction reduction);

  const FlatModel& model_;
  Communicator& communicator_;
  StrategyCounters& counters_;
  WindowReport report_;
  std::vector<Work> works_;
  std::vector<bool> broken_;  ///< Per slot; empty: not looked at.
};

}  // namespace muster
