#include "sync_batch_norm.hpp"

#include "batch_statistics.hpp"
#include "forward_scene.hpp"

#include <ATen/ops/add.h>
#include <ATen/ops/batch_norm_native.h>
#include <ATen/ops/native_batch_norm.h>
#include <ATen/ops/rsqrt.h>
#include <c10/core/GradMode.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/library.h>

#include <map>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>

namespace muster {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Function;
using torch::autograd::variable_list;
using OptionalTensor = std::optional<at::Tensor>;
using Group = std::shared_ptr<Communicator>;

std::mutex mutex;
std::unordered_map<const c10::TensorImpl*, Group>& groups() {
  static auto& all = *new std::unordered_map<const c10::TensorImpl*, Group>();
  return all;
}

Group group_of(const OptionalTensor& weight, const OptionalTensor& running_mean) {
  const std::lock_guard lock(mutex);
  for (const auto* key : {&weight, &running_mean}) {
    if (!*key || !(*key)->defined()) continue;
    const auto found = groups().find((*key)->unsafeGetTensorImpl());
    if (found != groups().end()) return found->second;
  }
  return nullptr;
}

/// Of one call, besides its tensors.
struct Call : torch::CustomClassHolder {
  Call(Group ranks, double epsilon) : group(std::move(ranks)), eps(epsilon) {}
  Group group;
  double eps;
  double count = 0;  ///< Values a channel, of all ranks.
  bool has_bias = false;
};

/// Given statistics are what an evaluation uses.
at::Tensor normalise(const at::Tensor& input, const OptionalTensor& weight,
                     const OptionalTensor& bias, const BatchStatistics& all, double eps) {
  const auto run = [&](const at::Tensor& values, const OptionalTensor& w, const OptionalTensor& b) {
    return std::get<0>(at::native_batch_norm(values, w, b, all.mean, all.variance, false, 0, eps));
  };
  const auto dtype = all.mean.scalar_type();
  if (!weight || weight->scalar_type() == dtype) return run(input, weight, bias);
  // The kernels take no narrow weights beside wide statistics.
  const auto widen = [&](const OptionalTensor& tensor) {
    return tensor ? OptionalTensor(tensor->to(dtype)) : tensor;
  };
  return run(input.to(dtype), widen(weight), widen(bias)).to(input.scalar_type());
}

class Normalised : public Function<Normalised> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& input,
                            const OptionalTensor& weight, const OptionalTensor& bias,
                            const BatchStatistics& all, const c10::intrusive_ptr<Call>& call) {
    context->save_for_backward({input, weight.value_or(at::Tensor()), all.mean, all.variance});
    context->saved_data["call"] = c10::IValue::make_capsule(call);
    return normalise(input, weight, bias, all, call->eps);
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const auto call =
        c10::static_intrusive_pointer_cast<Call>(context->saved_data["call"].toCapsule());
    const auto saved = context->get_saved_variables();
    const auto result = batch_norm_backward(
        {gradients[0], saved[0], saved[1], saved[2], saved[3].add(call->eps).rsqrt(), call->count},
        *call->group);
    return {result.input, result.weight, call->has_bias ? result.bias : at::Tensor(), at::Tensor(),
            at::Tensor()};
  }
};

void update_running(const at::Tensor& mean, const at::Tensor& variance, double momentum,
                    const BatchStatistics& all) {
  const at::NoGradGuard no_grad;
  if (mean.defined()) mean.mul_(1 - momentum).add_(all.mean, momentum);
  if (!variance.defined()) return;
  const double unbiased = all.count > 1 ? all.count / (all.count - 1) : 1;
  variance.mul_(1 - momentum).add_(all.variance, momentum * unbiased);
}

/// In the place of aten::batch_norm.
at::Tensor batch_norm(const at::Tensor& input, const OptionalTensor& weight,
                      const OptionalTensor& bias, const OptionalTensor& running_mean,
                      const OptionalTensor& running_var, bool training, double momentum, double eps,
                      bool cudnn_enabled) {
  const auto group = training ? group_of(weight, running_mean) : nullptr;
  if (!group) {
    return at::native::batch_norm(input, weight, bias, running_mean, running_var, training,
                                  momentum, eps, cudnn_enabled);
  }
  const auto all = batch_statistics(input, *group);
  // Computed again for a backward, it is still one batch.
  if (!ForwardScene::is_again()) {
    update_running(running_mean.value_or(at::Tensor()), running_var.value_or(at::Tensor()),
                   momentum, all);
  }
  auto call = c10::make_intrusive<Call>(group, eps);
  call->count = all.count;
  call->has_bias = bias && bias->defined();
  return Normalised::apply(input, weight, bias, all, call);
}

/// Takes the operator's place for tensors of a kind of device, for the life of the process.
void take_operator(at::DeviceType device) {
  static auto& taken = *new std::map<at::DeviceType, torch::Library>();
  if (taken.contains(device)) return;
  const auto backend = at::TensorOptions(device).computeDispatchKey();
  const auto key = c10::getAutogradKeyFromBackend(c10::toBackendComponent(backend));
  taken.try_emplace(device, torch::Library::IMPL, "aten", key, "muster", 0)
      .first->second.impl("batch_norm", batch_norm);
}

}  // namespace

SyncBatchNorm::SyncBatchNorm(const ModuleView& module, std::shared_ptr<Communicator> group) {
  for (const auto& tensors : {module.parameters(), module.buffers()}) {
    for (const auto& [name, tensor] : tensors) keys_.push_back(tensor);
  }
  const std::lock_guard lock(mutex);
  take_operator(group->device().type());
  for (const auto& key : keys_) groups()[key.unsafeGetTensorImpl()] = group;
}

SyncBatchNorm::~SyncBatchNorm() {
  const std::lock_guard lock(mutex);
  for (const auto& key : keys_) groups().erase(key.unsafeGetTensorImpl());
}

}  // namespace muster
