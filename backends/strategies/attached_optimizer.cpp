#include "attached_optimizer.hpp"

#include <muster/error.hpp>

#include <torch/optim/optimizer.h>

#include <algorithm>
#include <string>
#include <unordered_map>
#include <utility>

namespace muster {
namespace {

using Groups = std::vector<torch::optim::OptimizerParamGroup>;

std::vector<std::vector<const void*>> identities(const Groups& groups) {
  std::vector<std::vector<const void*>> all;
  for (const auto& group : groups) {
    auto& list = all.emplace_back();
    for (const auto& parameter : group.params()) list.push_back(parameter.unsafeGetTensorImpl());
  }
  return all;
}

/// C++'s parameters() lists a tied weight as often as it is registered, and step() would move it as
/// often.
void remove_repeats(Groups& groups, const FlatModel& model) {
  std::unordered_map<const void*, std::size_t> group_of;
  for (std::size_t index = 0; index < groups.size(); ++index) {
    std::erase_if(groups[index].params(), [&](const at::Tensor& parameter) {
      const auto [at, first] = group_of.emplace(parameter.unsafeGetTensorImpl(), index);
      if (first || at->second == index) return !first;
      const auto slot = model.find_slot(parameter);
      throw ModelError("parameter " +
                       (slot ? "'" + model.parameter(model.slots()[*slot]).name + "' " : "") +
                       "stands in groups " + std::to_string(at->second) + " and " +
                       std::to_string(index) + " of the optimizer; give it to one");
    });
  }
}

std::vector<OwnedSlot> find_owned(const Groups& groups, const FlatModel& model) {
  std::vector<OwnedSlot> owned;
  for (std::size_t group = 0; group < groups.size(); ++group) {
    for (const auto& parameter : groups[group].params()) {
      if (const auto slot = model.find_slot(parameter)) owned.push_back({*slot, group});
    }
  }
  std::ranges::sort(owned, {}, &OwnedSlot::slot);
  return owned;
}

}  // namespace

AttachedOptimizer::AttachedOptimizer(const FlatModel& model, torch::optim::Optimizer& optimizer)
    : optimizer_(optimizer) {
  remove_repeats(optimizer.param_groups(), model);
  groups_ = identities(optimizer.param_groups());
  auto owned = find_owned(optimizer.param_groups(), model);
  for (const auto& slot : owned) slots_.push_back(slot.slot);
  if (const auto* rule = find_update_rule(optimizer)) {
    update_.emplace(model, std::move(owned), optimizer, *rule);
  }
}

void AttachedOptimizer::require_unchanged() const {
  const auto& groups = std::as_const(optimizer_).param_groups();
  const bool same = std::ranges::equal(groups, groups_, [](const auto& group, const auto& known) {
    return std::ranges::equal(group.params(), known, {}, &at::Tensor::unsafeGetTensorImpl);
  });
  if (same) return;
  const auto now = identities(groups);
  const auto [before, after] = std::ranges::mismatch(groups_, now);
  throw ModelError("parameter group " + std::to_string(after - now.begin()) +
                   " of the optimizer was " +
                   (before == groups_.end() ? "added"
                    : after == now.end()    ? "removed"
                                            : "changed") +
                   " after prepare; make its groups first, then prepare it");
}

void AttachedOptimizer::step(const GradientWindow& window) {
  if (!update_) {
    throw UnsupportedError(
        "this type of optimizer is not known; run its own step() between "
        "before_step() and after_step()");
  }
  update_->step(window);
}

}  // namespace muster
