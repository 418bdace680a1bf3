#include "data_parallel.hpp"
#include "gradient_norm.hpp"

#include <ATen/ops/empty.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace muster {
namespace {

/// [flags.size()] bytes, on the group's device: 1 where some rank has 1.
std::vector<bool> any_rank(Communicator& group, const std::vector<bool>& flags) {
  if (group.size() == 1) return flags;
  const auto host = at::empty({static_cast<std::int64_t>(flags.size())}, at::kByte);
  std::ranges::copy(flags, host.mutable_data_ptr<std::uint8_t>());
  const auto sent = host.to(group.device());
  group.all_reduce(sent, ReduceOp::max, "non-finite gradients").wait();
  const auto received = sent.to(at::kCPU);
  const auto* const first = received.const_data_ptr<std::uint8_t>();
  std::vector<bool> result(flags.size());
  for (std::size_t index = 0; index < flags.size(); ++index) result[index] = first[index] != 0;
  return result;
}

/// The ranks that say yes.
std::vector<int> ranks_with(Communicator& group, bool here) {
  const auto input = at::empty({1}, at::kByte).fill_(here ? 1 : 0).to(group.device());
  const auto output = input.new_empty({group.size()});
  group.all_gather(output, input, "where gradients are not finite").wait();
  const auto received = output.to(at::kCPU);
  const auto* const flags = received.const_data_ptr<std::uint8_t>();
  std::vector<int> ranks;
  for (int rank = 0; rank < group.size(); ++rank) {
    if (flags[rank] != 0) ranks.push_back(rank);
  }
  return ranks;
}

}  // namespace

void DataParallel::begin_backward(double scale) {
  require_prepared();
  window_->begin_backward(scale);
}

void DataParallel::end_backward() noexcept {
  if (window_) window_->end_backward();
}

bool DataParallel::unscale_slots(std::span<const std::size_t> slots) {
  // Of a void window: the rank that left it takes no part in this, and no step uses it.
  if (!options_.scaled_loss || window_->is_void()) return true;
  if (window_->is_scaled(slots)) {
    window_->unscale(slots);
    std::vector<bool> broken;
    for (const auto slot : slots) broken.push_back(!window_->is_finite(slot));
    broken = any_rank(*group_, broken);
    for (std::size_t index = 0; index < slots.size(); ++index) {
      if (broken[index]) window_->set_broken(slots[index]);
    }
  }
  return window_->are_finite(slots);
}

bool DataParallel::unscale(const torch::optim::Optimizer* optimizer) {
  require_prepared();
  if (!options_.scaled_loss) return true;
  finish_window(optimizer);
  window_->collect();
  if (optimizer == nullptr) return unscale_slots(select_slots(*model_, {}));
  return unscale_slots(require_attached(*optimizer).slots());
}

bool DataParallel::gradients_finite(const torch::optim::Optimizer& optimizer) const {
  require_prepared();
  const auto* attached = find(optimizer);
  return attached == nullptr || window_->are_finite(attached->slots());
}

void DataParallel::trace_non_finite(bool on) {
  require_prepared();
  window_->trace(on);
}

NonFinite DataParallel::find_non_finite(const torch::optim::Optimizer& optimizer) {
  NonFinite found;
  std::optional<std::size_t> first;
  for (const auto slot : require_attached(optimizer).slots()) {
    if (window_->is_finite(slot)) continue;
    if (first) ++found.others;
    const auto place = [this](std::size_t one) { return model_->slots()[one].parameter; };
    if (!first || place(slot) < place(*first)) first = slot;
  }
  if (!first) return found;
  found.parameter = model_->parameter(model_->slots()[*first]).name;
  found.ranks = ranks_with(*group_, window_->was_sent_broken(*first));
  return found;
}

}  // namespace muster
