#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace torch::optim {
class Optimizer;
class OptimizerOptions;
}  // namespace torch::optim

namespace muster {

/// Most tensors of state that a rule keeps for a parameter.
inline constexpr std::size_t max_states = 3;

/// The state of one parameter, as the user's optimizer keeps it.
struct ParameterState {
  std::array<at::Tensor*, max_states> tensors{};  ///< Null: not used with these options.
  std::int64_t* step = nullptr;                   ///< Null: the rule counts no steps.
};

/// Flat slices that one update goes over: same options, all new to the rule or none. Whole
/// multiples of 16 elements.
struct UpdateSlices {
  std::vector<at::Tensor> parameters;
  std::vector<at::Tensor> gradients;  ///< Of the parameters' dtype.
  std::array<std::vector<at::Tensor>, max_states> states;
  std::vector<at::Tensor> steps;  ///< fp32 scalars: 1 for the first update.
  bool fresh = false;             ///< The state was made for this update, of zeros.
};

/// How one type of optimizer updates parameters, element by element. Stateless; one object a type.
class UpdateRule {
 public:
  virtual ~UpdateRule() = default;

  /// Finds or makes the optimizer's own object; tensors in it may still be undefined.
  virtual ParameterState state(torch::optim::Optimizer& optimizer, const at::Tensor& parameter,
                               const torch::optim::OptimizerOptions& options) const = 0;
  /// As `state`, of what exists; nothing is made.
  virtual ParameterState existing_state(torch::optim::Optimizer& optimizer,
                                        const at::Tensor& parameter) const = 0;
  virtual void update(const torch::optim::OptimizerOptions& options,
                      const UpdateSlices& slices) const = 0;
};

/// The rule for exactly this type of optimizer; null if there is none.
const UpdateRule* find_update_rule(const torch::optim::Optimizer& optimizer);

/// One file a type; null if the optimizer is of another.
const UpdateRule* sgd_rule(const torch::optim::Optimizer& optimizer);
const UpdateRule* adam_rule(const torch::optim::Optimizer& optimizer);
const UpdateRule* adamw_rule(const torch::optim::Optimizer& optimizer);
const UpdateRule* adagrad_rule(const torch::optim::Optimizer& optimizer);
const UpdateRule* rmsprop_rule(const torch::optim::Optimizer& optimizer);

}  // namespace muster
