#pragma once

#include <muster/grad_scaler.hpp>
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
  std::shared_ptr<GradScaler> scaler;  ///< Null: the loss is not scaled.
  std::uint64_t steps = 0;             ///< Updates made.
  bool skipped = false;                ///< The newest step() was due and made none.
  int overflows = 0;                   ///< Due steps in a row whose gradients were not finite.
  std::shared_ptr<Join> join;          ///< Of its Accelerator, in which it has this number.
  int number = 0;

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
