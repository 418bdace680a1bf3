#include <muster/communicators.hpp>
#include <muster/error.hpp>
#include <muster/local_sgd.hpp>
#include <muster/log.hpp>

#include "collectives.hpp"
#include "internals.hpp"
#include "module_view.hpp"
#include "optimizer_tensors.hpp"
#include "packed.hpp"

#include <c10/core/GradMode.h>

#include <algorithm>

namespace muster {
namespace {

std::vector<std::shared_ptr<PreparedOptimizer>> optimizers_of(const AcceleratorState& state,
                                                              const PreparedModel& model) {
  std::vector<std::shared_ptr<PreparedOptimizer>> optimizers;
  for (const auto& kept : state.optimizers) {
    const auto optimizer = kept.lock();
    if (!optimizer) continue;
    const bool updates = std::ranges::any_of(
        optimizer->models, [&](const auto& updated) { return updated.get() == &model; });
    if (updates) optimizers.push_back(optimizer);
  }
  return optimizers;
}

/// Gives the model another strategy, and its optimizers to that.
void replace_strategy(AcceleratorState& state, PreparedModel& model,
                      std::unique_ptr<Strategy> strategy) {
  const auto optimizers = optimizers_of(state, model);
  for (const auto& optimizer : optimizers) model.strategy->detach(*optimizer->optimizer);
  // The hooks of one must be gone before the other's come.
  model.strategy->discard_gradients();
  model.strategy = std::move(strategy);
  model.strategy->prepare({tensors_of(*model.module).parameters,
                           [view = model.module.get()] { return view->buffers(); }});
  for (const auto& optimizer : optimizers) model.strategy->attach(*optimizer->optimizer);
}

std::unique_ptr<Strategy> strategy_of_one_rank() {
  const std::shared_ptr<Communicator> alone = connect("self", {}).communicator;
  return make_data_parallel(std::make_shared<Mesh>(Mesh::data_parallel(alone)), {});
}

/// Calls `work` for lists of tensors of at most `most` bytes, or one larger.
template <class Work>
void in_buckets(const std::vector<at::Tensor>& tensors, Work&& work) {
  constexpr std::size_t most = std::size_t{25} << 20;
  std::vector<at::Tensor> bucket;
  std::size_t bytes = 0;
  for (const auto& tensor : tensors) {
    if (!bucket.empty() && bytes + tensor.nbytes() > most) {
      work(bucket);
      bucket.clear();
      bytes = 0;
    }
    bucket.push_back(tensor);
    bytes += tensor.nbytes();
  }
  if (!bucket.empty()) work(bucket);
}

}  // namespace

LocalSGD::LocalSGD(Accelerator& accelerator, const ModelHandle& model, std::int64_t steps,
                   bool enabled)
    : accelerator_(accelerator),
      model_(model),
      steps_(steps),
      active_(enabled && accelerator.num_processes() > 1) {
  if (steps < 1) {
    throw ConfigError("LocalSGD: every " + std::to_string(steps) + " steps; 1 or more");
  }
  if (!active_) return;
  auto& prepared = Internals::of(model_);
  if (prepared.strategy->stage() != 0) {
    throw UnsupportedError("LocalSGD: the model is sharded over the ranks (" +
                           std::string(prepared.strategy->name()) + "); use the strategy ddp");
  }
  replace_strategy(Internals::of(accelerator_), prepared, strategy_of_one_rank());
}

LocalSGD::~LocalSGD() {
  if (!active_) return;
  log(LogLevel::warning, "LocalSGD ended without finish(): ranks keep their own parameters");
}

void LocalSGD::step() {
  if (!active_ || !accelerator_.sync_gradients() || ++done_ % steps_ != 0) return;
  average();
}

void LocalSGD::finish() {
  if (!active_) return;
  average();
  auto& state = Internals::of(accelerator_);
  // Moments that differ would lead the ranks apart again, with equal gradients.
  for (const auto& optimizer : optimizers_of(state, Internals::of(model_))) {
    const auto tensors = tensors_of_state(*optimizer->optimizer);
    const auto means = collectives::reduce(state.data_group(), tensors, "mean");
    const c10::NoGradGuard no_grad;
    for (std::size_t i = 0; i < means.size(); ++i) tensors[i].tensor.copy_(means[i]);
  }
  replace_strategy(state, Internals::of(model_), state.new_strategy());
  active_ = false;
}

void LocalSGD::average() {
  const c10::NoGradGuard no_grad;
  auto& group = Internals::of(accelerator_).data_group();
  const auto tensors = tensors_of(*Internals::of(model_).module);
  std::vector<at::Tensor> averaged, copied;
  for (const auto& [name, tensor] : tensors.parameters) {
    if (tensor.requires_grad()) averaged.push_back(tensor.detach());
  }
  for (const auto& [name, tensor] : tensors.buffers) {
    (tensor.is_floating_point() ? averaged : copied).push_back(tensor.detach());
  }
  in_buckets(averaged, [&](const std::vector<at::Tensor>& bucket) {
    std::vector<at::Tensor> means;
    for (const auto& tensor : bucket) means.push_back(tensor.clone(at::MemoryFormat::Contiguous));
    collectives::all_reduce_packed(group, means, ReduceOp::sum, "LocalSGD");
    for (std::size_t i = 0; i < bucket.size(); ++i) bucket[i].copy_(means[i].div_(group.size()));
  });
  in_buckets(copied, [&](const std::vector<at::Tensor>& bucket) {
    std::vector<at::Tensor> values;
    for (const auto& tensor : bucket) values.push_back(tensor.contiguous());
    collectives::broadcast_packed(group, values, 0, "LocalSGD");
    for (std::size_t i = 0; i < bucket.size(); ++i) {
      if (!values[i].is_same(bucket[i])) bucket[i].copy_(values[i]);
    }
  });
  ++averages_;
}

}  // namespace muster
