#pragma once

#include "prepared_optimizer.hpp"
#include "schedules/scheduler_driver.hpp"

#include <cstdint>
#include <memory>

namespace muster {

/// A scheduler, and the prepared optimizer that it follows; null before that one is prepared.
struct PreparedScheduler {
  PreparedScheduler(torch::optim::Optimizer& moved, SchedulerSource source)
      : torch_optimizer(&moved), driver(make_driver(moved, std::move(source))) {}

  torch::optim::Optimizer* torch_optimizer;
  std::unique_ptr<SchedulerDriver> driver;
  std::shared_ptr<PreparedOptimizer> optimizer;
  std::int64_t steps = 0;

  /// Updates of the optimizer that the newest step, and the newest metric, came after.
  std::uint64_t seen = 0, seen_by_metric = 0;

  int number = 0;  ///< In the Join of its optimizer.

  void follow(std::shared_ptr<PreparedOptimizer> prepared);
  // For a rank that follows others.
  void advance();
  void observe(double metric);  ///< The metric is the ranks' mean already.
  /// Ranks without a batch have to be told.
  bool tells() const noexcept { return optimizer && optimizer->join && optimizer->join->active(); }
};

}  // namespace muster
