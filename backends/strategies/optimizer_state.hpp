#pragma once

#include <torch/optim/optimizer.h>

#include <memory>

namespace muster {

/// The optimizer's object of state for a parameter; null if there is none. State must be its true
/// type.
template <class State>
State* find_state(torch::optim::Optimizer& optimizer, const at::Tensor& parameter) {
  const auto found = optimizer.state().find(parameter.unsafeGetTensorImpl());
  return found == optimizer.state().end() ? nullptr : static_cast<State*>(found->second.get());
}

/// The same, made empty if there is none.
template <class State>
State& make_state(torch::optim::Optimizer& optimizer, const at::Tensor& parameter) {
  auto& held = optimizer.state()[parameter.unsafeGetTensorImpl()];
  if (!held) held = std::make_unique<State>();
  return static_cast<State&>(*held);
}

}  // namespace muster
