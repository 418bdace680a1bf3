#pragma once

#include <torch/torch.h>

#include <cmath>
#include <cstdint>

namespace text {

struct GptSize {
  std::int64_t characters, context = 96, width = 128, heads = 4, layers = 4;
};

/// Causal attention and a perceptron, each behind a layer norm and beside a residual connection.
struct BlockImpl : torch::nn::Module {
  explicit BlockImpl(const GptSize& size) : heads(size.heads) {
    const auto width = size.width;
    norm1 = register_module("norm1", torch::nn::LayerNorm(torch::nn::LayerNormOptions({width})));
    attention = register_module("attention", torch::nn::Linear(width, 3 * width));
    joined = register_module("joined", torch::nn::Linear(width, width));
    norm2 = register_module("norm2", torch::nn::LayerNorm(torch::nn::LayerNormOptions({width})));
    wide = register_module("wide", torch::nn::Linear(width, 4 * width));
    narrow = register_module("narrow", torch::nn::Linear(4 * width, width));
  }
  torch::Tensor forward(torch::Tensor x) {  // [n, time, width]
    const auto parts = attention(norm1(x))
                           .view({x.size(0), x.size(1), 3, heads, x.size(2) / heads})
                           .permute({2, 0, 3, 1, 4});
    const auto seen = torch::scaled_dot_product_attention(parts[0], parts[1], parts[2], {}, 0,
                                                          /*is_causal=*/true);
    x = x + joined(seen.transpose(1, 2).flatten(2));
    return x + narrow(torch::gelu(wide(norm2(x))));
  }
  std::int64_t heads;
  torch::nn::LayerNorm norm1{nullptr}, norm2{nullptr};
  torch::nn::Linear attention{nullptr}, joined{nullptr}, wide{nullptr}, narrow{nullptr};
};
TORCH_MODULE(Block);

/// A small GPT over characters; the output layer's weight is the embedding's.
struct Gpt : torch::nn::Module {
  explicit Gpt(const GptSize& size) {
    characters = register_module("characters", torch::nn::Embedding(size.characters, size.width));
    places = register_module("places", torch::nn::Embedding(size.context, size.width));
    blocks = register_module("blocks", torch::nn::Sequential());
    for (std::int64_t layer = 0; layer < size.layers; ++layer) blocks->push_back(Block(size));
    norm = register_module("norm", torch::nn::LayerNorm(torch::nn::LayerNormOptions({size.width})));
    const torch::NoGradGuard no_grad;
    for (auto& item : named_parameters()) {
      if (item.value().dim() > 1) item.value().normal_(0, 0.02);
    }
  }
  torch::Tensor forward(const torch::Tensor& ids) {  // [n, time] to [n, time, characters]
    const auto x = characters(ids) + places(torch::arange(ids.size(1), ids.device()));
    return torch::linear(norm(blocks->forward(x)), characters->weight);
  }
  torch::nn::Embedding characters{nullptr}, places{nullptr};
  torch::nn::Sequential blocks{nullptr};
  torch::nn::LayerNorm norm{nullptr};
};

}  // namespace text
