#pragma once

// What programs in READMEs take for granted: a model and a data set.

#include <muster/muster.hpp>

#include <torch/torch.h>

struct Net : torch::nn::Module {
  torch::Tensor forward(const torch::Tensor& x) { return layer(x); }  // [n, 4] to [n, 2]
  torch::nn::Linear layer = register_module("layer", torch::nn::Linear(4, 2));
};

inline const muster::TensorDataset dataset(torch::randn({64, 4}), torch::randint(2, {64}));
