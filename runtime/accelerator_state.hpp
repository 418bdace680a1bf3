#pragma once

#include <muster/accelerator_options.hpp>
#include <muster/communicator.hpp>
#include <muster/loop_state.hpp>
#include <muster/resolve.hpp>
#include <muster/world.hpp>

#include "join.hpp"
#include "prepared_model.hpp"
#include "prepared_optimizer.hpp"
#include "prepared_scheduler.hpp"
#include "session.hpp"
#include "tracking/meter.hpp"
#include "tracking/trackers.hpp"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster {

/// A micro-step that accumulate() or no_sync() announced and whose block is still open.
struct MicroStep {
  std::vector<std::shared_ptr<PreparedModel>> models;
  bool closes = true;  ///< The window, unless a no_sync() is open.
  bool no_sync = false;

  bool synchronises() const noexcept;
};

/// What an Accelerator and its handles share.
struct AcceleratorState {
  explicit AcceleratorState(const AcceleratorOptions& given);

  AcceleratorOptions options;
  World world;
  Resolution settings;
  std::string_view strategy;            ///< The name of the strategy that models get.
  std::shared_ptr<Session> session;     ///< Null after end_training().
  std::shared_ptr<Communicator> norms;  ///< Null until it is needed.
  at::Device device = at::kCPU;
  std::optional<at::ScalarType> dtype;  ///< That models compute in, by autocast.
  std::shared_ptr<GradScaler> scaler;
  std::shared_ptr<LoopState> loop = std::make_shared<LoopState>();
  std::vector<std::shared_ptr<PreparedModel>> models;
  /// The program's own object may be gone before the Accelerator, so only handles keep these.
  std::vector<std::weak_ptr<PreparedOptimizer>> optimizers;
  std::vector<std::weak_ptr<PreparedScheduler>> schedulers;
  std::shared_ptr<Join> join = std::make_shared<Join>();
  std::vector<std::shared_ptr<MicroStep>> scopes;  ///< Innermost last.
  std::unique_ptr<tracking::Trackers> trackers;    ///< From init_trackers to end_training.
  tracking::Meter meter;                           ///< Of what trackers get besides.

  bool triggered = false;  ///< set_trigger() was called here.

  /// The ranks that data is spread over. Throws CommunicationError after end_training().
  Communicator& data_group() const;
  const std::shared_ptr<Mesh>& mesh() const;
  /// The same ranks again, for batch norms alone: theirs come in between the others' operations, in
  /// an order that ranks need not share. Collective at first.
  std::shared_ptr<Communicator> norm_group();
  std::unique_ptr<Strategy> new_strategy() const;
  std::unique_ptr<Strategy> new_replica() const;  ///< For a model that is not trained.
  /// Frees all ranks from what they wait in, with CommunicationError. One rank alone; then all
  /// rejoin().
  void abort(const std::string& reason) const;
  /// Leaves the group of ranks, which was lost, for a new one. All ranks; what was prepared before
  /// stays in the old one.
  void rejoin();

 private:
  StrategyOptions strategy_options() const;
};

/// "ddp over 2 ranks on 1 host (gloo), cpu, fp32"
std::string headline(const AcceleratorState& state);

}  // namespace muster
