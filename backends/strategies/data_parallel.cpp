#include "data_parallel.hpp"

#include <muster/error.hpp>
#include <muster/tensor_broadcast.hpp>

#include "gradient_norm.hpp"
#include "model_check.hpp"
#include "parameter_layout.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

namespace muster {

DataParallel::DataParallel(std::shared_ptr<Mesh> mesh, StrategyOptions options)
    : mesh_(std::move(mesh)),
      group_(mesh_->group(options.dimension)),
      options_(std::move(options)) {}

DataParallel::~DataParallel() = default;

void DataParallel::prepare(ModelParts parts) {
  if (model_) throw ConfigError("a strategy prepares one model; make another for a second");
  parts_ = std::move(parts);
  if (!parts_.buffers) parts_.buffers = [] { return std::vector<NamedTensor>(); };
  // First what needs the other ranks: a fault of one rank alone must not leave them waiting.
  require_same_model(parts_.parameters, parts_.buffers(), options_, *group_);
  FlatModel model(std::move(parts_.parameters), group_->device(), options_);
  model.move_in();
  model_ = std::move(model);
  broadcast_model();
  window_.emplace(*model_, *group_, counters_);
}

void DataParallel::broadcast_model() {
  if (group_->size() == 1) return;
  std::vector<Work> works;
  for (std::size_t bucket = 0; bucket < model_->buckets().size(); ++bucket) {
    works.push_back(group_->broadcast(model_->flat(bucket), 0, "parameters"));
  }
  for (auto& work : works) work.wait();
  std::vector<NamedTensor> others;
  for (const auto& parameter : model_->parameters()) {
    if (!model_->find_slot(parameter.tensor)) others.push_back(parameter);
  }
  broadcast_tensors(others, *group_, "frozen parameters");
  broadcast_tensors(parts_.buffers(), *group_, "buffers");
}

void DataParallel::send_buffers() {
  if (std::exchange(buffers_window_, window_->number()) == window_->number()) return;
  if (group_->size() > 1) broadcast_tensors(parts_.buffers(), *group_, "buffers");
}

void DataParallel::attach(torch::optim::Optimizer& optimizer) {
  require_prepared();
  detach(optimizer);
  optimizers_.push_back(std::make_unique<AttachedOptimizer>(*model_, optimizer));
}

void DataParallel::detach(torch::optim::Optimizer& optimizer) noexcept {
  std::erase_if(optimizers_,
                [&](const auto& attached) { return attached->optimizer() == &optimizer; });
  stepped_.erase(&optimizer);
}

void DataParallel::begin_forward() {
  require_prepared();
  send_buffers();
}

void DataParallel::begin_micro_step(bool synchronise) {
  require_prepared();
  window_->begin_micro_step(synchronise);
  // Before its first bucket, which hooks send inside backward.
  if (synchronise) send_buffers();
}

void DataParallel::weigh(double count) {
  require_prepared();
  window_->weigh(count);
}

void DataParallel::end_micro_step() {
  require_prepared();
  window_->end_micro_step();
}

void DataParallel::synchronise() {
  require_prepared();
  close_window();
}

void DataParallel::close_window() {
  send_buffers();
  window_->synchronise();
}

bool DataParallel::gradients_ready() const noexcept { return window_ && window_->is_reduced(); }

double DataParallel::clip_grad_norm(double max_norm, double norm_type,
                                    const std::vector<at::Tensor>& only) {
  require_prepared();
  const auto slots = select_slots(*model_, only);
  finish_window(nullptr);
  window_->collect();
  unscale_slots(slots);
  const double norm = gradient_norm(*model_, *window_, slots, norm_type);
  const double factor = max_norm / (norm + 1e-6);
  // A norm that is not a number spreads, as in PyTorch.
  if (!(factor >= 1)) scale_gradients(*window_, slots, factor);
  return norm;
}

void DataParallel::clip_grad_value(double value) {
  require_prepared();
  finish_window(nullptr);
  window_->collect();
  const auto slots = select_slots(*model_, {});
  unscale_slots(slots);
  for (const auto slot : slots) {
    if (window_->has_gradient(slot)) window_->means().window(slot).clamp_(-value, value);
  }
}

bool DataParallel::fuses(const torch::optim::Optimizer& optimizer) const {
  return find_update_rule(optimizer) != nullptr;
}

void DataParallel::update(torch::optim::Optimizer& optimizer) {
  require_prepared();
  require_attached(optimizer).step(*window_);
}

bool DataParallel::before_step(torch::optim::Optimizer& optimizer) {
  require_prepared();
  const auto& attached = require_attached(optimizer);
  model_->require_unchanged();
  attached.require_unchanged();
  finish_window(&optimizer);
  window_->collect();
  return !window_->is_void() && unscale_slots(attached.slots());
}

void DataParallel::after_step(torch::optim::Optimizer& optimizer) {
  require_prepared();
  auto* attached = find(optimizer);
  if (attached == nullptr || has_stepped(&optimizer)) return;
  window_->consume(attached->slots());
  window_->consume(slots_without_optimizer());
  if (std::exchange(stepped_window_, window_->number()) != window_->number()) stepped_.clear();
  stepped_.insert(&optimizer);
  if (window_->is_void()) {
    ++counters_.skipped;
  } else {
    ++counters_.steps;
  }
}

void DataParallel::zero_grad(torch::optim::Optimizer* optimizer) {
  require_prepared();
  if (optimizer == nullptr) {
    window_->zero_grad(select_slots(*model_, {}));
  } else if (auto* attached = find(*optimizer)) {
    window_->zero_grad(attached->slots());
  }
}

void DataParallel::discard_gradients() {
  require_prepared();
  window_->discard();
}

std::vector<Layout> DataParallel::layouts() const {
  require_prepared();
  return replicated_parameters(model_->parameters(), group_->rank());
}

void DataParallel::require_prepared() const {
  if (!window_) throw ModelError("the strategy has no model yet; call prepare first");
}

AttachedOptimizer* DataParallel::find(const torch::optim::Optimizer& optimizer) const noexcept {
  const auto found = std::ranges::find_if(
      optimizers_, [&](const auto& attached) { return attached->optimizer() == &optimizer; });
  return found == optimizers_.end() ? nullptr : found->get();
}

AttachedOptimizer& DataParallel::require_attached(const torch::optim::Optimizer& optimizer) const {
  if (auto* attached = find(optimizer)) return *attached;
  throw ModelError("this optimizer was not attached to the strategy");
}

std::vector<std::size_t> DataParallel::slots_without_optimizer() const {
  std::vector<bool> owned(model_->slots().size());
  for (const auto& attached : optimizers_) {
    for (const auto slot : attached->slots()) owned[slot] = true;
  }
  std::vector<std::size_t> slots;
  for (std::size_t slot = 0; slot < owned.size(); ++slot) {
    if (!owned[slot]) slots.push_back(slot);
  }
  return slots;
}

bool DataParallel::has_stepped(const torch::optim::Optimizer* optimizer) const {
  return stepped_window_ == window_->number() && stepped_.contains(optimizer);
}

bool DataParallel::all_have_stepped() const {
  return std::ranges::all_of(
      optimizers_, [this](const auto& attached) { return has_stepped(attached->optimizer()); });
}

void DataParallel::finish_window(const torch::optim::Optimizer* optimizer) {
  const bool waiting = window_->is_reduced() && !window_->is_due() && !has_stepped(optimizer) &&
                       (optimizers_.empty() || !all_have_stepped());
  if (!waiting) close_window();
}

std::unique_ptr<Strategy> make_data_parallel(std::shared_ptr<Mesh> mesh, StrategyOptions options) {
  return std::make_unique<DataParallel>(std::move(mesh), std::move(options));
}

}  // namespace muster
