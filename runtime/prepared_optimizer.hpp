#pragma once

#include <muster/mesh.hpp>

#include "prepared_model.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace torch::optim {
class Optimizer;
}

namespace muster {

struct PreparedScheduler;

/// An optimizer and the prepared models whose parameters it updates.
struct PreparedOptimizer {
  PreparedOptimizer(std::shared_ptr<torch::optim::Optimizer> torch_optimizer,
                    std::vector<std::shared_ptr<PreparedModel>> updated);
  ~PreparedOptimizer();
  PreparedOptimizer(const PreparedOptimizer&) = delete;
  PreparedOptimizer& operator=(const PreparedOptimizer&) = delete;

  std::shared_ptr<torch::optim::Optimizer> optimizer;
  std::vector<std::shared_ptr<PreparedModel>> models;
  std::shared_ptr<Mesh> mesh;  ///< Of the Accelerator that prepared it.
  std::weak_ptr<PreparedScheduler> rates_set_by;
  std::uint64_t steps = 0;  ///< Updates made.
  bool skipped = false;     ///< The newest step that was due made none.

  /// Every model's micro-step closes its window.
  bool due() const noexcept;
  /// The strategies know the optimizer's rule.
  bool fused() const;
};

/// Throws ModelError, naming it, for a parameter of `optimizer` that none of `models` holds.
std::shared_ptr<PreparedOptimizer> prepare_optimizer(
    std::shared_ptr<torch::optim::Optimizer> optimizer,
    const std::vector<std::shared_ptr<PreparedModel>>& models);

}  // namespace muster
