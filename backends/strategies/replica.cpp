#include "replica.hpp"

#include <muster/error.hpp>
#include <muster/tensor_broadcast.hpp>

#include "model_check.hpp"
#include "parameter_layout.hpp"

#include <utility>

namespace muster {
namespace {

[[noreturn]] void refuse(const char* what) {
  throw ModelError(std::string(what) +
                   ": the model was prepared in evaluation mode, so it is not trained; prepare it "
                   "without");
}

}  // namespace

Replica::Replica(const std::shared_ptr<Mesh>& mesh, StrategyOptions options)
    : group_(mesh->group(options.dimension)), options_(std::move(options)) {}

void Replica::prepare(ModelParts parts) {
  parts_ = std::move(parts);
  auto buffers = parts_.buffers ? parts_.buffers() : std::vector<NamedTensor>();
  require_same_model(parts_.parameters, buffers, options_, *group_);
  for (const auto* tensors : {&parts_.parameters, &buffers}) {
    for (const auto& [name, tensor] : *tensors) {
      if (tensor.device() != group_->device()) tensor.set_data(tensor.to(group_->device()));
    }
    broadcast_tensors(*tensors, *group_, "weights");
  }
}

void Replica::attach(torch::optim::Optimizer& /*optimizer*/) { refuse("the optimizer"); }

double Replica::clip_grad_norm(double /*max_norm*/, double /*norm_type*/,
                               const std::vector<at::Tensor>& /*only*/) {
  refuse("clip_grad_norm");
}

void Replica::clip_grad_value(double /*value*/) { refuse("clip_grad_value"); }

bool Replica::before_step(torch::optim::Optimizer& /*optimizer*/) { refuse("step"); }
void Replica::update(torch::optim::Optimizer& /*optimizer*/) { refuse("step"); }
void Replica::after_step(torch::optim::Optimizer& /*optimizer*/) { refuse("step"); }

void Replica::zero_grad(torch::optim::Optimizer* /*optimizer*/) {
  for (const auto& [name, tensor] : parts_.parameters) tensor.mutable_grad().reset();
}

std::vector<Layout> Replica::layouts() const {
  return replicated_parameters(parts_.parameters, group_->rank());
}

std::unique_ptr<Strategy> make_replica(const std::shared_ptr<Mesh>& mesh, StrategyOptions options) {
  return std::make_unique<Replica>(mesh, std::move(options));
}

}  // namespace muster
