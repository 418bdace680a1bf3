#pragma once

#include <muster/layout.hpp>
#include <muster/mesh.hpp>
#include <muster/named_tensor.hpp>

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace torch::optim {
class Optimizer;
}

namespace muster {

/// What a model is to a strategy. A tied parameter stands once, under its first name.
struct ModelParts {
  std::vector<NamedTensor> parameters;
  /// Asked at each use, since a module may re-assign its buffers.
  std::function<std::vector<NamedTensor>()> buffers;
};

struct StrategyOptions {
  std::int64_t first_bucket_bytes = 1 << 20;
  std::int64_t bucket_bytes = 25 << 20;
  std::string dimension = "data";  ///< Of the mesh, in which it acts.
  /// What forwards compute in ("no", "bf16", "fp16"); only compared between ranks.
  std::string mixed_precision = "no";
  /// Losses are multiplied by a scale: clip and step divide gradients by it first, and a step whose
  /// gradients are not finite is skipped.
  bool scaled_loss = false;
};

/// Where gradients are not finite.
struct NonFinite {
  std::string parameter;     ///< The first in the model's order; empty: there is none.
  std::int64_t others = 0;   ///< How many parameters more.
  std::vector<int> ranks{};  ///< Whose own gradients of it were not, if that was traced.
};

/// What a step did, for tests and reports.
struct StrategyCounters {
  std::uint64_t reductions = 0;  ///< Buckets reduced.
  std::uint64_t overlapped = 0;  ///< Of these, started inside backward.
  std::uint64_t late = 0;        ///< Gradients that came after their bucket and were reduced alone.
  std::uint64_t steps = 0;       ///< Optimizer steps.
  std::uint64_t skipped = 0;     ///< Steps that did nothing: a rank had left the window, or some
                                 ///< gradient was not finite.
};

/// How parameters, gradients and optimizer state lie over one dimension of the mesh, and what a
/// training step does with them (engine.md has the rules). Every rank of the dimension calls the
/// same in the same order.
///
/// What communicates waits for the other ranks, up to the communicator's timeout, and throws
/// CommunicationError: prepare, begin_forward, begin_micro_step and end_micro_step of a closing
/// micro-step, synchronise, clipping and before_step of a window that is still open; with
/// scaled_loss also the first clipping, unscale or before_step of any. Once a
/// reduction has thrown, each of these throws the same: ranks may hold different sums.
///
/// A window is the micro-steps up to and including one that synchronises. Whoever drives (the
/// Accelerator, or a pipeline schedule) says when a micro-step begins and ends; a backward that
/// nobody announced is finished by the next clip or step.
class Strategy {
 public:
  virtual ~Strategy() = default;
  virtual std::string_view name() const noexcept = 0;  ///< "ddp".
  virtual int stage() const noexcept = 0;

  /// Takes the model over: checks that all ranks hold the same (ModelError names the first
  /// difference, with both versions, on all ranks), broadcasts rank 0's parameters and buffers,
  /// moves parameters and gradients into buckets. Called once.
  virtual void prepare(ModelParts parts) = 0;
  /// Takes over those of an optimizer's parameters that are this model's; others are left alone.
  /// `optimizer` must outlive the strategy or be detached.
  virtual void attach(torch::optim::Optimizer& optimizer) = 0;
  virtual void detach(torch::optim::Optimizer& optimizer) noexcept = 0;

  /// Before a training forward: buffers get rank 0's values, once a window. A rank without one
  /// gets them when it begins the closing micro-step, or when the window is closed.
  virtual void begin_forward() = 0;
  /// The next backward belongs to a window that it closes (`synchronise`) or not. If this rank left
  /// a closing micro-step without a backward (continue, an exception) and so will not step, its
  /// window is closed now and that step is skipped on every rank; if all ranks left it, its
  /// gradients wait for the next window.
  virtual void begin_micro_step(bool synchronise) = 0;
  /// Before the micro-step's first backward: its gradients are a sum of `count` >= 0 parts (such as
  /// tokens), and means are over these instead of over micro-steps. A window in which only some
  /// backwards are counted is a ModelError on all ranks when it closes.
  virtual void weigh(double count) = 0;
  /// The loss of each backward from here to end_backward() is multiplied by `scale`; what the open
  /// window holds is brought to it. Only with scaled_loss. Throws ModelError where buckets of a
  /// backward with another scale are under way.
  virtual void begin_backward(double scale) = 0;
  virtual void end_backward() noexcept = 0;
  /// After the backward of a micro-step; waits for the reductions if it closed the window.
  virtual void end_micro_step() = 0;
  /// Reduces now what the window holds, also on ranks without a backward.
  virtual void synchronise() = 0;

  /// begin_micro_step() has begun a window that is not closed yet.
  virtual bool in_window() const noexcept = 0;
  /// Gradients are means over the window and ranks from here to the next zero_grad.
  virtual bool gradients_ready() const noexcept = 0;
  /// The global norm before clipping; scales the gradients so that it is at most `max_norm`.
  /// norm_type 2 or infinity. `only`: a subset of the parameters; empty: all.
  virtual double clip_grad_norm(double max_norm, double norm_type,
                                const std::vector<at::Tensor>& only) = 0;
  virtual void clip_grad_value(double value) = 0;
  /// Divides the gradients of the optimizer's parameters (null: all) by the scale of their loss,
  /// once a window, and tells whether they are finite, on all ranks alike. Without scaled_loss:
  /// true. Clipping does it for what it clips, before_step() for the optimizer.
  virtual bool unscale(const torch::optim::Optimizer* optimizer) = 0;
  /// No step is skipped for a gradient of the optimizer that unscale() found not finite.
  virtual bool gradients_finite(const torch::optim::Optimizer& optimizer) const = 0;
  /// From now on each rank notes which of its own gradients are not finite before they are summed,
  /// for one more pass over them; what it noted before is forgotten.
  virtual void trace_non_finite(bool on) = 0;
  /// Of the optimizer's parameters, between before_step() and after_step(). Collective.
  virtual NonFinite find_non_finite(const torch::optim::Optimizer& optimizer) = 0;
  /// True if update() knows this optimizer's rule (by its exact type). Else the caller runs
  /// optimizer.step() in its place.
  virtual bool fuses(const torch::optim::Optimizer& optimizer) const = 0;
  /// Finishes a window that nobody closed and checks that parameters and groups are still what was
  /// prepared (ModelError). False if the step must be skipped, on all ranks alike: a rank left the
  /// window, or gradients are not finite (scaled_loss); after_step() is called all the same.
  virtual bool before_step(torch::optim::Optimizer& optimizer) = 0;
  /// One update of this model's parameters by `optimizer`'s rule and present options, fused over
  /// flat slices, between before_step() and after_step(). Parameters without a gradient on any rank
  /// are left alone, as is their state.
  virtual void update(torch::optim::Optimizer& optimizer) = 0;
  /// The gradients count as consumed: the next window starts from zero.
  virtual void after_step(torch::optim::Optimizer& optimizer) = 0;
  /// All three, for an optimizer of this model alone.
  void step(torch::optim::Optimizer& optimizer) {
    if (before_step(optimizer)) update(optimizer);
    after_step(optimizer);
  }
  /// Clears gradients that a step consumed, and what other models' losses left before the window's
  /// first micro-step; once the window has had a backward of its own it does nothing. Means that no
  /// step has consumed yet are dropped when the next window begins, unless a step comes first.
  /// Null: all parameters.
  virtual void zero_grad(torch::optim::Optimizer* optimizer) = 0;
  /// Clears all gradients and forgets the window.
  virtual void discard_gradients() = 0;

  virtual std::vector<Layout> layouts() const = 0;  ///< Of the parameters, in the model's order.
  virtual const StrategyCounters& counters() const noexcept = 0;
};

/// Strategy of stage 0: everything replicated, gradients averaged (DDP).
std::unique_ptr<Strategy> make_data_parallel(std::shared_ptr<Mesh> mesh, StrategyOptions options);

/// For a model that is used and not trained: replicated, without gradients.
std::unique_ptr<Strategy> make_replica(const std::shared_ptr<Mesh>& mesh, StrategyOptions options);

/// The name() of what make_strategy() makes for `name`. Throws as it does.
std::string_view strategy_name(std::string_view name);

/// By name: "auto", "ddp". Throws ConfigError naming the strategies of this build.
std::unique_ptr<Strategy> make_strategy(std::string_view name, std::shared_ptr<Mesh> mesh,
                                        StrategyOptions options);

}  // namespace muster
