#pragma once

#include <muster/optimizer.hpp>
#include <muster/schedule.hpp>
#include <muster/scheduler_source.hpp>

#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

namespace muster {

struct PreparedScheduler;

/// Changes an optimizer's options, as a schedule says. Cheap to copy; copies are one scheduler.
///
/// Once its optimizer is prepared, step() moves it only if that has made an update since the last
/// call: once an optimizer step on any number of ranks, so call it as often as you like, on every
/// micro-step too. (Accelerate moves it once a rank, and not at all if the last step of many was
/// skipped.) Before that every call moves it, as in PyTorch.
class Scheduler {
 public:
  /// Reads the learning rates that the optimizer's groups have now, and sets those for step 0.
  /// `schedule`: a Schedule or what it can be made of; a class derived from
  /// torch::optim::LRScheduler or ReduceLROnPlateauScheduler, borrowed or owned as prepare() does;
  /// or a function of the step that returns nothing and changes options itself, called now with 0
  /// and after each step. The optimizer must outlive this or be prepared. Throws ConfigError for a
  /// schedule that does not fit the optimizer.
  template <class T>
    requires SchedulerOptions<std::remove_cvref_t<T>>
  Scheduler(torch::optim::Optimizer& optimizer, T&& schedule)
      : Scheduler(optimizer, scheduler_source(std::forward<T>(schedule))) {}
  template <class T>
    requires SchedulerOptions<std::remove_cvref_t<T>>
  Scheduler(const Optimizer& optimizer, T&& schedule)
      : Scheduler(optimizer, scheduler_source(std::forward<T>(schedule))) {}
  Scheduler(torch::optim::Optimizer& optimizer, SchedulerSource source);
  Scheduler(const Optimizer& optimizer, SchedulerSource source);

  /// The next step; see above. No communication. Throws ConfigError for a schedule that metrics
  /// move, and ModelError if another Scheduler sets the same optimizer's rates.
  void step();
  /// Tells a plateau a metric; nothing if the optimizer has made no update since the last one. It
  /// counts as no step of what is chained with the plateau. Every rank calls it once the optimizer
  /// is prepared; the mean over the ranks counts, so that all have the same rate. Throws
  /// ConfigError for a schedule that has no use for it.
  void step(double metric);

  std::int64_t steps() const noexcept;  ///< Made so far.
  /// The optimizer's learning rates, one a group.
  std::vector<double> get_last_lr() const;

  /// All that an exact continuation needs: steps, the rates that the optimizer was made with, the
  /// plateau. Of a class derived from torch::optim::LRScheduler: steps and rates, and its own
  /// state_dict() if it has one. UnsupportedError for LibTorch's ReduceLROnPlateauScheduler, whose
  /// state is private.
  SchedulerState state_dict() const;
  /// Goes on from there: sets the optimizer's rates too. Load the optimizer's own state before.
  /// Throws CheckpointError, before anything was changed, for the state of another schedule.
  void load_state_dict(const SchedulerState& state);

  /// The same scheduler.
  bool operator==(const Scheduler& other) const noexcept = default;

 private:
  friend class Adopter;
  explicit Scheduler(std::shared_ptr<PreparedScheduler> prepared);
  std::shared_ptr<PreparedScheduler> prepared_;
};

}  // namespace muster
