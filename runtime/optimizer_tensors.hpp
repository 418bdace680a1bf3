#pragma once

#include <muster/structure.hpp>

#include <vector>

namespace torch::optim {
class Optimizer;
}

namespace muster {

/// The tensors of an optimizer's state, in the order of its parameters, with their names: of SGD,
/// Adam, AdamW, Adagrad and RMSprop. Of other kinds none.
std::vector<TensorLeaf> tensors_of_state(const torch::optim::Optimizer& optimizer);

}  // namespace muster
