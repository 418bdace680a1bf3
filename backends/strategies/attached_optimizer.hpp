#pragma once

#include "flat_model.hpp"
#include "fused_update.hpp"
#include "gradient_window.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace muster {

/// A user's optimizer and the parameters of the model that it updates.
class AttachedOptimizer {
 public:
  /// Takes repeats of a tied parameter out of the optimizer's groups. Throws ModelError for one
  /// that stands in two.
  AttachedOptimizer(const FlatModel& model, torch::optim::Optimizer& optimizer);

  const torch::optim::Optimizer* optimizer() const noexcept { return &optimizer_; }
  /// Trained parameters of the model, ascending.
  std::span<const std::size_t> slots() const noexcept { return slots_; }
  /// Throws ModelError if its groups are not those that were attached.
  void require_unchanged() const;
  /// Throws UnsupportedError if its type is not known.
  void step(const GradientWindow& window);

 private:
  torch::optim::Optimizer& optimizer_;
  std::vector<std::vector<const void*>> groups_;  ///< The tensors' identities.
  std::vector<std::size_t> slots_;
  std::optional<FusedUpdate> update_;
};

}  // namespace muster
