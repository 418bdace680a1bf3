#include "optimizer_rates.hpp"

#include <muster/error.hpp>

#include <c10/util/Exception.h>
#include <torch/optim/adam.h>
#include <torch/optim/adamw.h>
#include <torch/optim/rmsprop.h>
#include <torch/optim/sgd.h>

#include <optional>
#include <string>
#include <tuple>

namespace muster {
namespace {

using torch::optim::OptimizerOptions;

/// Calls `use` with what gets and sets the momentum, if these options have one.
template <class Use>
void with_momentum(OptimizerOptions& options, Use&& use) {
  if (auto* sgd = dynamic_cast<torch::optim::SGDOptions*>(&options)) {
    use(sgd->momentum());
  } else if (auto* rmsprop = dynamic_cast<torch::optim::RMSpropOptions*>(&options)) {
    use(rmsprop->momentum());
  } else if (auto* adam = dynamic_cast<torch::optim::AdamOptions*>(&options)) {
    use(std::get<0>(adam->betas()));
  } else if (auto* adamw = dynamic_cast<torch::optim::AdamWOptions*>(&options)) {
    use(std::get<0>(adamw->betas()));
  }
}

GroupRates read_group(OptimizerOptions& options) {
  GroupRates rates;
  try {
    rates.lr = options.get_lr();
  } catch (const c10::Error&) {
    throw UnsupportedError(
        "the optimizer's options tell no learning rate: their class has to override get_lr and "
        "set_lr of torch::optim::OptimizerOptions");
  }
  with_momentum(options, [&](double momentum) { rates.momentum = momentum; });
  return rates;
}

}  // namespace

std::vector<GroupRates> read_rates(torch::optim::Optimizer& optimizer) {
  std::vector<GroupRates> rates;
  for (auto& group : optimizer.param_groups()) rates.push_back(read_group(group.options()));
  return rates;
}

void write_rates(torch::optim::Optimizer& optimizer, const std::vector<GroupRates>& rates) {
  auto& groups = optimizer.param_groups();
  if (groups.size() != rates.size()) {
    throw ModelError("the scheduler was made for " + std::to_string(rates.size()) +
                     " groups of the optimizer, which has " + std::to_string(groups.size()) +
                     (groups.empty() ? ": it was moved from" : ": make its groups first"));
  }
  for (std::size_t index = 0; index < groups.size(); ++index) {
    auto& options = groups[index].options();
    options.set_lr(rates[index].lr);
    if (!rates[index].momentum) continue;
    with_momentum(options, [&](double& momentum) { momentum = *rates[index].momentum; });
  }
}

}  // namespace muster
