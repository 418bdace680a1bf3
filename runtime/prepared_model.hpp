#pragma once

#include <muster/strategy.hpp>

#include "accumulation.hpp"
#include "join.hpp"
#include "module_view.hpp"
#include "sync_batch_norm.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace muster {

/// A model in training: the module, the strategy that holds its gradients, and where its window is.
struct PreparedModel {
  std::unique_ptr<ModuleView> module;
  std::unique_ptr<Strategy> strategy;
  std::unique_ptr<SyncBatchNorm> sync_batch_norm;  ///< Null: each rank's batch norms for itself.
  std::optional<at::ScalarType> dtype;             ///< Of autocast; nothing: it computes as it is.
  at::Device device = at::kCPU;

  Accumulation accumulation;
  bool synchronises = true;    ///< Its present micro-step closes the window.
  bool accumulates = false;    ///< A step may have several micro-steps.
  int no_sync_depth = 0;       ///< Scopes of no_sync() that are open.
  std::shared_ptr<Join> join;  ///< Of its Accelerator, in which it has this number.
  int number = 0;
  std::int64_t parts = 1;  ///< Micro-steps that try_step() cuts a batch in.

  /// A micro-step begins: its backward closes the window, or not.
  void begin(bool closes_window);
};

/// All ranks of the mesh call it. Throws ModelError.
std::shared_ptr<PreparedModel> prepare_model(std::unique_ptr<ModuleView> module,
                                             std::unique_ptr<Strategy> strategy);

}  // namespace muster
