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
  bool synchronises = true;      ///< Its present micro-step closes the window.
  bool backward_is_due = false;  ///< A closing micro-step was announced and has had no backward.
  int no_sync_depth = 0;         ///< Scopes of no_sync() that are open.
  bool alone = true;             ///< A world of one, and one micro-step a step.

  /// A micro-step begins, after a window that was left is closed; its next backward closes this
  /// one, or not.
  void begin(bool closes_window);
  /// Changes what was announced of the next backward.
  void announce(bool closes_window);
  /// After a backward.
  void end();
  /// Closes a window that the program left without a backward: the other ranks wait for this one.
  void finish();
};

/// All ranks of the mesh call it. Throws ModelError.
std::shared_ptr<PreparedModel> prepare_model(std::unique_ptr<ModuleView> module,
                                             std::unique_ptr<Strategy> strategy);

}  // namespace muster
