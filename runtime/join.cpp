#include "join.hpp"

#include <muster/error.hpp>
#include <muster/optimizer.hpp>

#include "prepared_model.hpp"
#include "prepared_optimizer.hpp"
#include "prepared_scheduler.hpp"

#include <ATen/ops/empty.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

namespace muster {
namespace {

using Kind = JoinCall::Kind;
constexpr std::string_view label = "join_uneven_inputs";

bool is_out(const JoinCall& call) { return call.kind == Kind::out; }

std::string_view name_of(Kind kind) {
  constexpr std::string_view names[] = {"has no batch left", "has failed",
                                        "runs a forward",    "begins a micro-step",
                                        "runs a backward",   "clips by norm",
                                        "clips by value",    "steps an optimizer",
                                        "steps a scheduler", "gives a scheduler a metric"};
  return names[static_cast<std::size_t>(kind)];
}

/// What must be equal on ranks that have batches.
bool agree(const JoinCall& a, const JoinCall& b) {
  const bool own_value = a.kind == Kind::scheduler_metric;
  return a.kind == b.kind && a.object == b.object && a.closing == b.closing &&
         a.may_close == b.may_close && a.announced == b.announced && a.parameters == b.parameters &&
         a.norm_type == b.norm_type && (own_value || a.value == b.value);
}

std::size_t lead_of(const std::vector<JoinCall>& calls) {
  return static_cast<std::size_t>(std::ranges::find_if_not(calls, is_out) - calls.begin());
}

template <class T>
int add_to(std::vector<std::weak_ptr<T>>& list, const std::shared_ptr<T>& object) {
  const auto known =
      std::ranges::find_if(list, [&](const auto& other) { return other.lock() == object; });
  if (known != list.end()) return static_cast<int>(known - list.begin());
  list.push_back(object);
  return static_cast<int>(list.size()) - 1;
}

/// Throws ModelError if this rank no longer has what another one uses.
template <class T>
std::shared_ptr<T> get(const std::vector<std::weak_ptr<T>>& list, std::int64_t number,
                       std::string_view what) {
  const auto at = static_cast<std::size_t>(number);
  auto object = at < list.size() ? list[at].lock() : nullptr;
  if (object) return object;
  throw ModelError("join_uneven_inputs: this rank has let go of " + std::string(what) + ' ' +
                   std::to_string(number) + ", which others still use");
}

}  // namespace

int Join::add(const std::shared_ptr<PreparedModel>& model) { return add_to(models_, model); }
int Join::add(const std::shared_ptr<PreparedOptimizer>& optimizer) {
  return add_to(optimizers_, optimizer);
}
int Join::add(const std::shared_ptr<PreparedScheduler>& scheduler) {
  return add_to(schedulers_, scheduler);
}

void Join::begin(std::shared_ptr<Communicator> group, int accumulation_steps,
                 std::shared_ptr<LoopState> loop) {
  if (group_) throw ConfigError("join_uneven_inputs inside of join_uneven_inputs: use one");
  group_ = std::move(group);
  steps_ = accumulation_steps;
  loop_ = std::move(loop);
  following_ = broken_ = false;
}

void Join::end() noexcept { group_.reset(); }

std::vector<JoinCall> Join::tell(const JoinCall& call) {
  const auto size = static_cast<std::int64_t>(sizeof(JoinCall));
  std::vector<JoinCall> calls(static_cast<std::size_t>(group_->size()), call);
  if (group_->size() > 1) {
    try {
      const auto bytes = at::TensorOptions(at::kByte);
      at::Tensor own = at::empty({size}, bytes), all = at::empty({size * group_->size()}, bytes);
      std::memcpy(own.mutable_data_ptr(), &call, sizeof call);
      auto sent = own.to(group_->device());
      auto received = all.to(group_->device());
      group_->all_gather(received, sent, label).wait();
      all = received.cpu();
      std::memcpy(calls.data(), all.const_data_ptr(), calls.size() * sizeof(JoinCall));
    } catch (...) {
      broken_ = true;
      throw;
    }
  }
  require_agreement(calls);
  return calls;
}

void Join::require_agreement(const std::vector<JoinCall>& calls) {
  std::string text;
  const auto failed = std::ranges::find(calls, Kind::failed, &JoinCall::kind);
  const auto lead = std::ranges::find_if_not(calls, is_out);
  if (failed != calls.end()) {
    // The rank itself has its exception.
    if (failed - calls.begin() == group_->rank()) return;
    broken_ = true;
    throw Error("join_uneven_inputs: an exception ended the loop of rank " +
                std::to_string(failed - calls.begin()));
  }
  const bool same = std::ranges::all_of(
      calls, [&](const JoinCall& call) { return is_out(call) || agree(call, *lead); });
  if (!same) {
    text = "join_uneven_inputs: ranks that have batches do different things:";
    for (std::size_t rank = 0; rank < calls.size(); ++rank) {
      text += (rank == 0 ? " rank " : "; rank ") + std::to_string(rank) + ' ' +
              std::string(name_of(calls[rank].kind));
    }
    broken_ = true;
    throw ModelError(text);
  }
  const bool follows = std::ranges::any_of(calls, is_out);
  if (follows && lead != calls.end() && lead->kind == Kind::backward &&
      std::popcount(static_cast<std::uint64_t>(lead->closing)) > 1) {
    broken_ = true;
    throw UnsupportedError(
        "join_uneven_inputs: one backward of several models, while ranks have run out of batches: "
        "give each model its own loss, or one prepared module that holds both");
  }
}

void Join::tell(const JoinCall& call, std::vector<std::int64_t> parameters) {
  const auto calls = tell(call);
  if (parameters.empty() || group_->size() == 1) return;
  const auto count = static_cast<std::int64_t>(parameters.size());
  at::Tensor numbers = at::empty({count}, at::TensorOptions(at::kLong));
  std::ranges::copy(parameters, numbers.mutable_data_ptr<std::int64_t>());
  numbers = numbers.to(group_->device());
  group_->broadcast(numbers, static_cast<int>(lead_of(calls)), label).wait();
}

void Join::follow() {
  following_ = true;
  while (true) {
    const auto calls = tell(JoinCall{});
    const auto lead = lead_of(calls);
    if (lead == calls.size()) return;
    perform(calls[lead], calls);
  }
}

void Join::fail() noexcept {
  if (!group_ || broken_) return;
  try {
    (void)tell(JoinCall{.kind = Kind::failed});
  } catch (const std::exception&) {
    // The exception that the rank has is the one to be seen.
  }
}

std::int64_t Join::bit(const PreparedModel& model) {
  constexpr int most = 62;
  if (model.number < most) return std::int64_t{1} << model.number;
  throw ConfigError("join_uneven_inputs works with the first " + std::to_string(most) +
                    " models that an Accelerator has prepared");
}

std::int64_t Join::closing(const std::vector<JoinCall>& calls) {
  const auto& lead = calls[lead_of(calls)];
  const bool last = std::ranges::all_of(
      calls, [](const JoinCall& call) { return is_out(call) || call.last_batch != 0; });
  return last ? lead.may_close : lead.closing;
}

double Join::mean_metric(const std::vector<JoinCall>& calls) {
  double sum = 0;
  int count = 0;
  for (const auto& call : calls) {
    if (is_out(call)) continue;
    sum += call.value;
    ++count;
  }
  return sum / count;
}

std::vector<std::shared_ptr<PreparedModel>> Join::models(std::int64_t bits) const {
  std::vector<std::shared_ptr<PreparedModel>> result;
  for (std::int64_t number = 0; number < std::ssize(models_); ++number) {
    if ((bits >> number & 1) != 0) result.push_back(get(models_, number, "model"));
  }
  return result;
}

void Join::perform(const JoinCall& call, const std::vector<JoinCall>& calls) {
  switch (call.kind) {
    case Kind::out:
    case Kind::failed:
      return;
    case Kind::forward:
      for (const auto& model : models(call.object)) model->strategy->begin_forward();
      return;
    case Kind::micro_step:
      return begin_micro_step(call, closing(calls));
    case Kind::backward:
      return backward(call);
    case Kind::clip_norm:
      return clip_norm(call, calls);
    case Kind::clip_value:
      for (const auto& model : models(call.object)) model->strategy->clip_grad_value(call.value);
      return;
    case Kind::step:
      return Optimizer(get(optimizers_, call.object, "optimizer")).step();
    case Kind::scheduler_step:
      return get(schedulers_, call.object, "scheduler")->advance();
    case Kind::scheduler_metric:
      return get(schedulers_, call.object, "scheduler")->observe(mean_metric(calls));
  }
}

void Join::begin_micro_step(const JoinCall& call, std::int64_t closing) {
  for (const auto& model : models(call.object)) {
    (void)model->accumulation.next(steps_, false, *loop_);
    model->begin((closing & bit(*model)) != 0);
    if (model->synchronises) model->accumulation.close();
  }
}

void Join::backward(const JoinCall& call) {
  for (const auto& model : models(call.object)) {
    const bool closes = (call.closing & bit(*model)) != 0;
    if (call.announced == 0 || closes != model->synchronises) model->begin(closes);
    if (closes) model->strategy->synchronise();
  }
}

void Join::clip_norm(const JoinCall& call, const std::vector<JoinCall>& calls) {
  std::vector<std::int64_t> numbers(static_cast<std::size_t>(call.parameters));
  if (!numbers.empty()) {
    at::Tensor received =
        at::empty({call.parameters}, at::TensorOptions(at::kLong).device(group_->device()));
    group_->broadcast(received, static_cast<int>(lead_of(calls)), label).wait();
    received = received.cpu();
    std::copy_n(received.const_data_ptr<std::int64_t>(), call.parameters, numbers.begin());
  }
  for (const auto& model : models(call.object)) {
    const auto all = model->module->parameters();
    std::vector<at::Tensor> only;
    for (const auto number : numbers)
      only.push_back(all.at(static_cast<std::size_t>(number)).tensor);
    (void)model->strategy->clip_grad_norm(call.value, call.norm_type, only);
  }
}

}  // namespace muster
