#include "gradient_window.hpp"

#include <muster/device.hpp>
#include <muster/error.hpp>
#include <muster/log.hpp>

#include "agreement.hpp"

#include <c10/core/GradMode.h>

#include <algorithm>
#include <string>
#include <utility>

namespace muster {
namespace {

std::vector<at::Tensor> trained_parameters(const FlatModel& model) {
  std::vector<at::Tensor> parameters;
  for (const auto& slot : model.slots()) parameters.push_back(model.parameter(slot).tensor);
  return parameters;
}

}  // namespace

GradientWindow::GradientWindow(const FlatModel& model, Communicator& communicator,
                               StrategyCounters& counters)
    : model_(model),
      communicator_(communicator),
      counters_(counters),
      first_(model, communicator,
             WindowReport::numel(model.buckets().size(), model.slots().size())),
      reduction_(model, communicator, counters),
      late_(model),
      arrivals_(model),
      divisors_(model.buckets().size(), 1),
      scaled_(model.slots().size()),
      has_gradient_(model.slots().size()),
      consumed_(model.slots().size()),
      dropped_(model.slots().size()) {
  first_.on_sparse = [this](std::size_t slot) {
    if (std::exchange(said_sparse_, true)) return;
    log(LogLevel::info, "the sparse gradient of '" + model_.parameter(model_.slots()[slot]).name +
                            "' is made dense for the reduction");
  };
  GradientListener& listener = *this;
  hooks_.emplace(trained_parameters(model), listener);
}

void GradientWindow::begin_micro_step(bool closing) {
  hooks_->refresh();
  if (is_due()) close(true);
  drop_broken_backward();
  micro_ = {.closing = closing};
  // What other models' losses left behind is added, as LibTorch does, and counts as no micro-step.
  if (!std::exchange(announced_, true)) forget_micro_steps();
  if (!closing) return;
  ++closings_;
  arrivals_.begin();
}

void GradientWindow::weigh(double weight) {
  if (micro_.counted && micro_.weight != weight) {
    throw ModelError("the backwards of one micro-step have different counts");
  }
  micro_.weight = weight;
}

void GradientWindow::end_micro_step() {
  if (model_.buckets().empty()) return settle();
  if (phase_ != Phase::open) open();
  count_micro_step();
  if (micro_.closing) close(false);
}

void GradientWindow::before_accumulation(std::size_t slot) {
  const std::lock_guard lock(mutex_);
  if (phase_ != Phase::open) open();
  bring_sums_to(incoming_scale_);
  watch_.running();
  // A bucket that was sent must not be written to: what comes now is taken apart.
  if (reduction_.has_started(model_.slots()[slot].bucket)) gradient_of(slot).reset();
}

void GradientWindow::after_accumulation(std::size_t slot) {
  const std::lock_guard lock(mutex_);
  count_micro_step();
  const auto bucket = model_.slots()[slot].bucket;
  if (reduction_.has_started(bucket)) {
    late_.add(slot, gradient_of(slot));
    active_->bind(slot);
  } else if (!c10::GradMode::is_enabled()) {
    // With create_graph the user's program may still differentiate .grad: it is copied when the
    // bucket is sent.
    active_->take_in(slot);
  }
  if (!is_due()) return;
  arrivals_.arrived(slot);
  while (reduction_.started() + 1 < model_.buckets().size() &&
         arrivals_.complete(reduction_.started())) {
    reduction_.start(*active_, weight_);
  }
}

void GradientWindow::open() {
  const bool has_means = keep_means();
  if (has_means && !second_) {
    second_.emplace(model_, communicator_,
                    WindowReport::numel(model_.buckets().size(), model_.slots().size()));
    second_->on_sparse = first_.on_sparse;
  }
  active_ = has_means ? &*second_ : &first_;
  phase_ = Phase::open;
  forget_micro_steps();
  sums_scale_ = incoming_scale_;
  micro_.counted = false;
}

/// Clears means that were consumed or dropped. If others wait for a step, they alone stay in
/// first_, out of .grad. A .grad that the user's program has set since is left to the new window.
bool GradientWindow::keep_means() {
  for (std::size_t slot = 0; slot < has_gradient_.size(); ++slot) {
    const bool stale = consumed_[slot] || dropped_[slot] || !has_gradient_[slot];
    if (stale && first_.holds(slot)) gradient_of(slot).reset();
    has_gradient_[slot] = !stale && gradient_of(slot).defined();
    if (!has_gradient_[slot]) scaled_.gone(slot);
    consumed_[slot] = dropped_[slot] = false;
  }
  if (std::ranges::find(has_gradient_, true) == has_gradient_.end()) return false;
  for (std::size_t slot = 0; slot < has_gradient_.size(); ++slot) {
    if (!has_gradient_[slot]) {
      first_.slice(slot).zero_();
      continue;
    }
    first_.take_in(slot);
    gradient_of(slot).reset();
  }
  return true;
}

void GradientWindow::count_micro_step() noexcept {
  if (std::exchange(micro_.counted, true)) return;
  weight_ += micro_.weight.value_or(1);
  (micro_.weight ? weighed_ : plain_) = true;
}

void GradientWindow::forget_micro_steps() noexcept {
  weight_ = 0;
  plain_ = weighed_ = false;
}

bool GradientWindow::drop_broken_backward() {
  if (!watch_.broken()) return false;
  watch_.forget();
  for (std::size_t slot = 0; slot < has_gradient_.size(); ++slot) {
    if (!reduction_.has_started(model_.slots()[slot].bucket)) gradient_of(slot).reset();
  }
  late_.clear();
  forget_micro_steps();
  log(LogLevel::warning,
      "a backward ended with an exception: the gradients of this rank since the last step are left "
      "out");
  return true;
}

double GradientWindow::contribution() const {
  if (has_micro_step()) return weight_;
  for (std::size_t slot = 0; slot < has_gradient_.size(); ++slot) {
    // Set by hand, without a backward.
    if (!reduction_.has_started(model_.slots()[slot].bucket) && gradient_of(slot).defined())
      return 1;
  }
  return 0;
}

WindowReport GradientWindow::own_report(bool left) const {
  WindowReport report(model_.buckets().size(), model_.slots().size());
  report.left = left ? 1 : 0;
  report.plain = plain_ ? 1 : 0;
  report.weighed = weighed_ ? 1 : 0;
  report.steps.set(counters_.steps);
  report.closings.set(closings_);
  if (contribution() > 0) report.set_scale(sums_scale_);
  for (std::size_t slot = 0; slot < report.late.size(); ++slot) report.late[slot] = late_.has(slot);
  return report;
}

void GradientWindow::close(bool left) {
  if (model_.buckets().empty()) return settle();
  if (fault_) std::rethrow_exception(fault_);
  try {
    reduce(left);
  } catch (...) {
    fault_ = std::current_exception();
    reduction_.reset();
    throw;
  }
}

void GradientWindow::reduce(bool left) {
  const at::NoGradGuard no_grad;
  hooks_->refresh();
  const bool whole = !drop_broken_backward();
  if (phase_ != Phase::open) open();
  // A second backward of a closing micro-step belongs to the window that was closed: the same
  // divisor.
  const bool again = micro_.closing && micro_.reduced;
  const auto sums = reduction_.finish(*active_, contribution(),
                                      again ? Reduction::sum : Reduction::mean, own_report(left));
  require_agreement(sums);
  require_one_scale(sums);
  require_one_count(sums);
  if (again) {
    divide();
  } else {
    for (std::size_t bucket = 0; bucket < divisors_.size(); ++bucket) {
      divisors_[bucket] = sums.weights[bucket].value();
    }
  }
  counters_.late += late_.reduce_into(*active_, communicator_, {sums.late, divisors_});
  publish(sums);
  if (is_due() && micro_.counted && whole) arrivals_.learn();
  // Ranks that went on without this window never step on it; if all did, it waits for the next.
  void_ = sums.left > 0 && sums.left < communicator_.size();
  if (void_) dropped_.assign(dropped_.size(), true);
  settle();
}

void GradientWindow::require_agreement(const WindowReport& sums) {
  const int ranks = communicator_.size();
  if (sums.steps.holds(ranks) && sums.closings.holds(ranks)) return;
  throw_disagreement(communicator_, static_cast<std::int64_t>(counters_.steps),
                     static_cast<std::int64_t>(closings_));
}

void GradientWindow::require_one_count(const WindowReport& sums) const {
  if (sums.plain == 0 || sums.weighed == 0) return;
  throw ModelError("backward(loss) and backward(loss_sum, count) came in one window" +
                   std::string(plain_ && weighed_ ? "" : ", on different ranks") +
                   ": give the count with every backward of a window, on every rank, or with none");
}

void GradientWindow::divide() {
  for (std::size_t bucket = 0; bucket < divisors_.size(); ++bucket) {
    const auto& values = active_->payload(bucket);
    if (divisors_[bucket] <= 1) continue;
    device_kind(values.device()).kernels().scale(values, 1.0 / divisors_[bucket]);
  }
}

void GradientWindow::publish(const WindowReport& sums) {
  const double scale = sums.common_scale();
  if (active_ != &first_) {
    match_means(scale);
    for (std::size_t bucket = 0; bucket < divisors_.size(); ++bucket) {
      const auto& values = first_.payload(bucket);
      device_kind(values.device()).kernels().sum_into(values, active_->payload(bucket));
    }
  }
  for (std::size_t slot = 0; slot < has_gradient_.size(); ++slot) {
    if (sums.used[slot] > 0 || sums.late[slot] > 0) {
      scaled_.changed(slot, has_gradient_[slot] ? scaled_.scale(slot) : scale);
      has_gradient_[slot] = true;
    }
    if (has_gradient_[slot]) first_.bind(slot);
  }
}

void GradientWindow::settle() noexcept {
  reduction_.reset();
  active_ = &first_;
  phase_ = Phase::reduced;
  micro_.reduced = true;
  announced_ = false;
  ++number_;
}

void GradientWindow::collect() {
  for (std::size_t slot = 0; slot < has_gradient_.size(); ++slot) {
    if (!has_gradient_[slot] && !gradient_of(slot).defined()) continue;
    const bool had = has_gradient_[slot];
    has_gradient_[slot] = first_.take_in(slot);
    // One that the user's program made itself is of no loss of ours.
    if (had != has_gradient_[slot]) scaled_.gone(slot);
  }
}

}  // namespace muster
