#pragma once

#include <muster/communicator.hpp>
#include <muster/strategy.hpp>

#include "arrivals.hpp"
#include "backward_watch.hpp"
#include "bucket_reduction.hpp"
#include "flat_model.hpp"
#include "gradient_buffers.hpp"
#include "gradient_hooks.hpp"
#include "late_gradients.hpp"
#include "scaled_means.hpp"

#include <cstddef>
#include <cstdint>
#include <exception>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

namespace muster {

/// The gradients of a model from the first micro-step of a window to their mean over ranks, and
/// until a step has consumed them.
///
/// A window is *idle* (no gradients), *open* (backwards add to this rank's sums) or *reduced*
/// (means, equal on all ranks). What is added while means wait for a step goes into a second set of
/// buckets, is reduced alone and added.
class GradientWindow final : private GradientListener {
 public:
  GradientWindow(const FlatModel& model, Communicator& communicator, StrategyCounters& counters);

  /// Closes a window that this rank left without a backward.
  void begin_micro_step(bool closing);
  /// The micro-step's backward, which comes, counts `weight` >= 0 in the mean instead of one.
  void weigh(double weight);
  void end_micro_step();
  /// Closes the window: gradients become means. Collective. Once it has thrown, sums and ranks
  /// may differ: it throws the same from then on, whoever closes.
  void synchronise() { close(false); }

  bool is_reduced() const noexcept { return phase_ == Phase::reduced; }
  /// A micro-step was begun since the last window closed.
  bool is_announced() const noexcept { return announced_; }
  /// A closing micro-step was begun and not reduced.
  bool is_due() const noexcept { return micro_.closing && !micro_.reduced; }
  /// Some ranks left the window and will not step, so none may.
  bool is_void() const noexcept { return void_; }
  std::uint64_t number() const noexcept { return number_; }  ///< Of windows closed.

  /// Losses are multiplied by `scale` until end_backward().
  void begin_backward(double scale);
  void end_backward() noexcept { incoming_scale_ = 1; }
  /// Some of these means were not unscaled since they changed; equal on all ranks.
  bool is_scaled(std::span<const std::size_t> slots) const;
  /// Divides by the loss's scale those that were not yet, and sees whether they are finite here.
  void unscale(std::span<const std::size_t> slots);
  bool is_finite(std::size_t slot) const { return scaled_.is_finite(slot); }
  bool are_finite(std::span<const std::size_t> slots) const;
  void set_broken(std::size_t slot) { scaled_.set_broken(slot); }
  /// This rank's own sums of a slot were not finite, since trace().
  bool was_sent_broken(std::size_t slot) const { return reduction_.was_broken(slot); }
  void trace(bool on) { reduction_.trace(on); }

  /// Makes the buckets hold what the user made of the means: edits, other tensors, none.
  void collect();
  bool has_gradient(std::size_t slot) const { return has_gradient_[slot]; }
  const GradientBuffers& means() const noexcept { return first_; }

  /// A step has used these: the next window starts without them.
  void consume(std::span<const std::size_t> slots);
  /// Clears what was consumed. Of means that wait for a step: they are dropped unless it comes
  /// before the next window. Inside a window: nothing, unless all gradients came before its first
  /// micro-step.
  void zero_grad(std::span<const std::size_t> slots);
  /// Clears all that was not sent yet.
  void discard();

 private:
  enum class Phase { idle, open, reduced };
  struct MicroStep {
    bool closing = false;
    bool counted = false;  ///< It has had a backward.
    bool reduced = false;
    std::optional<double> weight{};  ///< In the mean, as the user said.
  };

  void before_accumulation(std::size_t slot) override;
  void after_accumulation(std::size_t slot) override;
  void open();
  bool keep_means();
  void close(bool left);
  void reduce(bool left);
  bool drop_broken_backward();
  void count_micro_step() noexcept;
  void forget_micro_steps() noexcept;
  bool has_micro_step() const noexcept { return plain_ || weighed_; }
  double contribution() const;
  void require_one_count(const WindowReport& sums) const;
  bool is_empty() const;
  WindowReport own_report(bool left) const;
  void require_agreement(const WindowReport& sums);
  void divide();
  void bring_sums_to(double scale);
  void match_means(double scale);
  void require_one_scale(const WindowReport& sums) const;
  void publish(const WindowReport& sums);
  void settle() noexcept;
  at::Tensor& gradient_of(std::size_t slot) const {
    return model_.parameter_of(slot).mutable_grad();
  }

  const FlatModel& model_;
  Communicator& communicator_;
  StrategyCounters& counters_;
  GradientBuffers first_;
  std::optional<GradientBuffers> second_;
  const GradientBuffers* active_ = &first_;  ///< Where backwards add.
  BucketReduction reduction_;
  LateGradients late_;
  Arrivals arrivals_;
  BackwardWatch watch_;

  std::mutex mutex_;  ///< Hooks may come from the engine's threads.
  Phase phase_ = Phase::idle;
  MicroStep micro_;
  bool announced_ = false;  ///< The window has a micro-step that begin_micro_step began.
  bool void_ = false;
  bool said_sparse_ = false;
  std::exception_ptr fault_;   ///< Of a reduction.
  double weight_ = 0;          ///< Of the backwards in the open window.
  bool plain_ = false;         ///< Some of them count one each.
  bool weighed_ = false;       ///< Some count what the user said.
  double incoming_scale_ = 1;  ///< Of the loss whose backward runs or comes next.
  double sums_scale_ = 1;      ///< Of the losses that the open window's sums are of.
  std::uint64_t closings_ = 0, number_ = 0;
  std::vector<double> divisors_;  ///< Per bucket, of the last reduction.
  ScaledMeans scaled_;
  std::vector<bool> has_gradient_;      ///< Per slot, in first_: of the means.
  std::vector<bool> consumed_;          ///< Per slot: a step has used it.
  std::vector<bool> dropped_;           ///< Per slot: to be cleared when the next window opens.
  std::optional<GradientHooks> hooks_;  ///< Last: gone before what they call.
};

}  // namespace muster
