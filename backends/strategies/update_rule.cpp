#include "update_rule.hpp"

namespace muster {

const UpdateRule* find_update_rule(const torch::optim::Optimizer& optimizer) {
  for (const auto find : {sgd_rule, adam_rule, adamw_rule, adagrad_rule, rmsprop_rule}) {
    if (const auto* rule = find(optimizer)) return rule;
  }
  return nullptr;
}

}  // namespace muster
