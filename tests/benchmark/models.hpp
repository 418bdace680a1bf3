#pragma once

#include <torch/torch.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

namespace muster::benchmark {

/// A model whose every variant takes one tensor and gives [64, 10].
struct Model : torch::nn::Module {
  virtual torch::Tensor forward(torch::Tensor x) = 0;
};

/// 784 -> 4 x 2048 -> 10, 14.2 M parameters.
struct Mlp : Model {
  Mlp() {
    const std::array<int, 6> widths{784, 2048, 2048, 2048, 2048, 10};
    for (std::size_t i = 0; i + 1 < widths.size(); ++i) {
      layers->push_back(torch::nn::Linear(widths[i], widths[i + 1]));
    }
    register_module("layers", layers);
  }
  torch::Tensor forward(torch::Tensor x) override {
    for (std::size_t i = 0; i < layers->size(); ++i) {
      x = layers[i]->as<torch::nn::Linear>()->forward(x);
      if (i + 1 < layers->size()) x = torch::relu(x);
    }
    return x;
  }
  torch::nn::ModuleList layers;
};

/// Two convolutions and two layers on [64, 1, 28, 28], 0.42 M parameters.
struct Cnn : Model {
  torch::Tensor forward(torch::Tensor x) override {
    x = torch::max_pool2d(torch::relu(conv1(x)), 2);
    x = torch::max_pool2d(torch::relu(conv2(x)), 2);
    return output(torch::relu(hidden(x.flatten(1))));
  }
  static torch::nn::Conv2d conv(int in, int out) {
    return torch::nn::Conv2d(torch::nn::Conv2dOptions(in, out, 3).padding(1));
  }
  torch::nn::Conv2d conv1 = register_module("conv1", conv(1, 32));
  torch::nn::Conv2d conv2 = register_module("conv2", conv(32, 64));
  torch::nn::Linear hidden = register_module("hidden", torch::nn::Linear(3136, 128));
  torch::nn::Linear output = register_module("output", torch::nn::Linear(128, 10));
};

/// A model of that name with its initial weights from seed 0, and the shape of its input.
struct Workload {
  explicit Workload(const std::string& name) {
    torch::manual_seed(0);
    if (name == "mlp") {
      model = std::make_shared<Mlp>();
      shape = {64, 784};
    } else if (name == "cnn") {
      model = std::make_shared<Cnn>();
      shape = {64, 1, 28, 28};
    } else {
      throw std::invalid_argument("no model '" + name + "'; there are mlp, cnn");
    }
  }
  std::shared_ptr<Model> model;
  std::vector<std::int64_t> shape;
};

}  // namespace muster::benchmark
