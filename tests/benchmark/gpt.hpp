#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <utility>

namespace muster::benchmark {

/// A transformer's layer, normalised first.
struct GptBlock : torch::nn::Module {
  GptBlock(std::int64_t width, std::int64_t head_count)
      : heads(head_count),
        norm1(register_module("norm1", make_norm(width))),
        norm2(register_module("norm2", make_norm(width))),
        qkv(register_module("qkv", torch::nn::Linear(width, 3 * width))),
        proj(register_module("proj", torch::nn::Linear(width, width))),
        up(register_module("up", torch::nn::Linear(width, 4 * width))),
        down(register_module("down", torch::nn::Linear(4 * width, width))) {}

  static torch::nn::LayerNorm make_norm(std::int64_t width) {
    return torch::nn::LayerNorm(torch::nn::LayerNormOptions({width}));
  }

  torch::Tensor forward(torch::Tensor x) {
    const auto b = x.size(0), t = x.size(1), c = x.size(2);
    const auto parts = qkv(norm1(x)).view({b, t, 3, heads, c / heads}).permute({2, 0, 3, 1, 4});
    const auto y = at::scaled_dot_product_attention(parts[0], parts[1], parts[2], {}, 0.0, true);
    x = x + proj(y.transpose(1, 2).reshape({b, t, c}));
    const auto gelu = torch::nn::functional::GELUFuncOptions().approximate("tanh");
    return x + down(torch::nn::functional::gelu(up(norm2(x)), gelu));
  }

  std::int64_t heads;
  torch::nn::LayerNorm norm1, norm2;
  torch::nn::Linear qkv, proj, up, down;
};

/// 6 layers of width 384 over 256 tokens, 10.8 M parameters; [8, 128] tokens give [8, 128, 256].
struct Gpt : torch::nn::Module {
  static constexpr std::int64_t vocabulary = 256, width = 384, context = 128;

  Gpt() {
    for (int i = 0; i < 6; ++i) blocks->push_back(GptBlock(width, 6));
    torch::nn::init::normal_(token->weight, 0, 0.02);
    torch::nn::init::normal_(position->weight, 0, 0.02);
  }
  torch::Tensor forward(const torch::Tensor& ids) {
    auto x = token(ids) + position(torch::arange(ids.size(1)));
    for (const auto& block : *blocks) x = block->as<GptBlock>()->forward(x);
    return torch::linear(norm(x), token->weight);
  }
  /// Inputs and targets, [8, 128] each.
  static std::pair<torch::Tensor, torch::Tensor> batch(at::Generator& generator) {
    const auto ids = torch::randint(vocabulary, {8, context + 1}, generator, torch::kLong);
    return {ids.slice(1, 0, context), ids.slice(1, 1)};
  }

  torch::nn::Embedding token = register_module("token", torch::nn::Embedding(vocabulary, width));
  torch::nn::Embedding position = register_module("position", torch::nn::Embedding(context, width));
  torch::nn::ModuleList blocks = register_module("blocks", torch::nn::ModuleList());
  torch::nn::LayerNorm norm = register_module("norm", GptBlock::make_norm(width));
};

}  // namespace muster::benchmark
