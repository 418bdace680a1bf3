#include <muster/checkpoint_activations.hpp>
#include <muster/error.hpp>

#include "forward_scene.hpp"

#include <c10/core/GradMode.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/csrc/autograd/saved_variable.h>

#include <algorithm>
#include <string>
#include <utility>

namespace muster {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Function;
using torch::autograd::variable_list;

/// A part and the scene of its first call; autograd keeps it with the graph.
struct Recipe : torch::CustomClassHolder {
  Recipe(ForwardPart forward, const std::vector<at::Tensor>& inputs)
      : part(std::move(forward)), scene(inputs) {}
  ForwardPart part;
  ForwardScene scene;
};

/// Copies that are leaves of a graph of their own.
std::vector<at::Tensor> fresh_leaves(const variable_list& saved) {
  std::vector<at::Tensor> leaves;
  for (const auto& input : saved) {
    leaves.push_back(input.detach().set_requires_grad(input.requires_grad()));
  }
  return leaves;
}

/// The outputs that a gradient came for, and these.
std::pair<variable_list, variable_list> roots_of(const variable_list& outputs,
                                                 const variable_list& gradients) {
  if (outputs.size() != gradients.size()) {
    throw ModelError("checkpoint_activations: the part returned " +
                     std::to_string(gradients.size()) + " tensors at first, and " +
                     std::to_string(outputs.size()) + " when it was computed again");
  }
  std::pair<variable_list, variable_list> roots;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (!gradients[i].defined() || !outputs[i].defined() || !outputs[i].requires_grad()) continue;
    roots.first.push_back(outputs[i]);
    roots.second.push_back(gradients[i]);
  }
  return roots;
}

class Recomputed : public Function<Recomputed> {
 public:
  /// `anchor` requires a gradient, so that the outputs do.
  static variable_list forward(AutogradContext* context, const at::Tensor& /*anchor*/,
                               const c10::intrusive_ptr<Recipe>& recipe, at::TensorList inputs) {
    auto outputs = recipe->part(inputs.vec());
    variable_list constants;
    for (const auto& output : outputs) {
      if (output.defined() && !output.is_floating_point() && !output.is_complex()) {
        constants.push_back(output);
      }
    }
    context->mark_non_differentiable(constants);
    context->set_materialize_grads(false);
    context->save_for_backward(inputs.vec());
    context->saved_data["recipe"] = c10::IValue::make_capsule(recipe);
    return outputs;
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const auto recipe =
        c10::static_intrusive_pointer_cast<Recipe>(context->saved_data["recipe"].toCapsule());
    const auto leaves = fresh_leaves(context->get_saved_variables());
    variable_list outputs;
    {
      const at::AutoGradMode with_gradients(true);
      const ForwardScene::Again again(recipe->scene);
      outputs = recipe->part(leaves);
    }
    const auto [roots, given] = roots_of(outputs, gradients);
    if (!roots.empty()) torch::autograd::backward(roots, given);
    variable_list result(2);  // Of the anchor and the recipe: none.
    for (const auto& leaf : leaves) result.push_back(leaf.grad());
    return result;
  }
};

}  // namespace

std::vector<at::Tensor> checkpoint_activations(ForwardPart part,
                                               const std::vector<at::Tensor>& inputs) {
  if (!c10::GradMode::is_enabled()) return part(inputs);
  if (!std::ranges::all_of(inputs, [](const auto& input) { return input.defined(); })) {
    throw ModelError(
        "checkpoint_activations: an input is undefined; let the part capture what it "
        "may do without");
  }
  const auto anchor = at::empty({0}, at::kFloat).set_requires_grad(true);
  return Recomputed::apply(anchor, c10::make_intrusive<Recipe>(std::move(part), inputs),
                           at::TensorList(inputs));
}

}  // namespace muster
