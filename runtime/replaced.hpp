#pragma once

#include <muster/strategy.hpp>

#include <vector>

namespace torch::nn {
class Module;
}

namespace muster {

/// Names of parameters that stay registered although a module of LibTorch's uses another tensor in
/// their place, with that tensor: `head->weight = embedding->weight` rebinds the member only.
std::vector<NamedTensor> replaced_parameters(const torch::nn::Module& module);

}  // namespace muster
