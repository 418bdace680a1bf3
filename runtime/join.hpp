#pragma once

#include <muster/communicator.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace muster {

class LoopState;
struct PreparedModel;
struct PreparedOptimizer;
struct PreparedScheduler;

/// What a rank does next in join_uneven_inputs(), so that ranks without a batch can do the same.
struct JoinCall {
  enum class Kind : std::int64_t {
    out,     ///< It has no batch left, and follows.
    failed,  ///< An exception ended its loop.
    forward,
    micro_step,
    backward,
    clip_norm,
    clip_value,
    step,
    scheduler_step,
    scheduler_metric
  };
  Kind kind = Kind::out;
  std::int64_t object = 0;      ///< Which optimizer or scheduler; of models a bit each.
  std::int64_t closing = 0;     ///< Models whose window this closes.
  std::int64_t may_close = 0;   ///< micro_step: those whose window it may close.
  std::int64_t announced = 0;   ///< backward: inside a micro-step.
  std::int64_t parameters = 0;  ///< clip_norm: so many of them.
  std::int64_t last_batch = 0;
  double value = 0, norm_type = 0;
};

/// Ranks that run out of batches do with the others what these do: exchange gradients, of which
/// they have none, clip and step. Every call of a rank that has batches is told to all first. One
/// an Accelerator; used by the thread that runs the loop.
class Join {
 public:
  /// A number for each object, equal on all ranks.
  int add(const std::shared_ptr<PreparedModel>& model);
  int add(const std::shared_ptr<PreparedOptimizer>& optimizer);
  int add(const std::shared_ptr<PreparedScheduler>& scheduler);

  void begin(std::shared_ptr<Communicator> group, int accumulation_steps,
             std::shared_ptr<LoopState> loop);
  void end() noexcept;
  /// Calls of this rank have to be told.
  bool active() const noexcept { return group_ && !following_; }
  /// Tells `call`; returns those of all ranks. Throws ModelError, on all ranks, if those that have
  /// batches do different things, and Error if one has failed.
  std::vector<JoinCall> tell(const JoinCall& call);
  /// The same with the numbers of `call.parameters` parameters.
  void tell(const JoinCall& call, std::vector<std::int64_t> parameters);
  /// Until no rank has a batch.
  void follow();
  /// Lets the others know that this rank has failed, unless that is how it failed.
  void fail() noexcept;

  /// Of a set of models. Throws ConfigError for one of too many.
  static std::int64_t bit(const PreparedModel& model);
  /// The models whose window a micro-step closes, once all ranks have told theirs: regularly, or
  /// since it is the last batch of all that have one.
  static std::int64_t closing(const std::vector<JoinCall>& calls);
  /// The mean metric of the ranks that have one.
  static double mean_metric(const std::vector<JoinCall>& calls);

 private:
  void require_agreement(const std::vector<JoinCall>& calls);
  void perform(const JoinCall& call, const std::vector<JoinCall>& calls);
  void begin_micro_step(const JoinCall& call, std::int64_t closing);
  void backward(const JoinCall& call);
  void clip_norm(const JoinCall& call, const std::vector<JoinCall>& calls);
  std::vector<std::shared_ptr<PreparedModel>> models(std::int64_t bits) const;

  std::shared_ptr<Communicator> group_;  ///< Null outside of join_uneven_inputs().
  std::shared_ptr<LoopState> loop_;
  int steps_ = 1;
  bool following_ = false, broken_ = false;
  std::vector<std::weak_ptr<PreparedModel>> models_;
  std::vector<std::weak_ptr<PreparedOptimizer>> optimizers_;
  std::vector<std::weak_ptr<PreparedScheduler>> schedulers_;
};

}  // namespace muster
