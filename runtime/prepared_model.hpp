#pragma once

#include <muster/strategy.hpp>

#include "accumulation.hpp"
#include "module_view.hpp"

#include <memory>
#include <vector>

namespace muster {

/// A model in training: the module, the strategy that holds its gradients, and where its window is.
struct PreparedModel {
  std::unique_ptr<ModuleView> module;
  std::unique_ptr<Strategy> strategy;

  Accumulation accumulation;
  bool synchronises = true;  ///< Its present micro-step closes the window.
  bool accumulates = false;  ///< A step may have several micro-steps.
  int no_sync_depth = 0;     ///< Scopes of no_sync() that are open.

  /// A micro-step begins: its backward closes the window, or not.
  void begin(bool closes_window);
};

/// All ranks of the mesh call it. Throws ModelError.
std::shared_ptr<PreparedModel> prepare_model(std::unique_ptr<ModuleView> module,
                                             std::unique_ptr<Strategy> strategy);

}  // namespace muster
