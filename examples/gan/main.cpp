// Learns to draw digits: a generator and a discriminator, each with its own optimizer, alone or on
// the ranks of `muster launch -n N -- gan`.

#include <muster/muster.hpp>

#include "../digits/images.hpp"
#include "drawing.hpp"

#include <torch/torch.h>

#include <cstdlib>
#include <iostream>

namespace {

constexpr std::int64_t noise_size = 32;

struct GeneratorImpl : torch::nn::Module {
  torch::Tensor forward(torch::Tensor x) {  // [n, 32] to [n, 1, 8, 8], pixels in [0, 1]
    x = torch::relu(norm1(input(x)));
    x = torch::relu(norm2(middle(x.view({-1, 64, 4, 4}))));
    return torch::sigmoid(output(x));
  }
  torch::nn::Linear input = register_module("input", torch::nn::Linear(noise_size, 64 * 4 * 4));
  torch::nn::BatchNorm1d norm1 = register_module("norm1", torch::nn::BatchNorm1d(64 * 4 * 4));
  torch::nn::ConvTranspose2d middle = register_module(
      "middle", torch::nn::ConvTranspose2d(
                    torch::nn::ConvTranspose2dOptions(64, 32, 4).stride(2).padding(1)));
  torch::nn::BatchNorm2d norm2 = register_module("norm2", torch::nn::BatchNorm2d(32));
  torch::nn::Conv2d output =
      register_module("output", torch::nn::Conv2d(torch::nn::Conv2dOptions(32, 1, 3).padding(1)));
};
TORCH_MODULE(Generator);

struct DiscriminatorImpl : torch::nn::Module {
  torch::Tensor forward(torch::Tensor x) {  // [n, 1, 8, 8] to [n]: above 0 is real
    x = torch::leaky_relu(first(x), 0.2);
    x = torch::leaky_relu(second(x), 0.2);
    return output(torch::dropout(x.flatten(1), 0.3, is_training())).squeeze(1);
  }
  static torch::nn::Conv2d halving(int in, int out) {
    return torch::nn::Conv2d(torch::nn::Conv2dOptions(in, out, 4).stride(2).padding(1));
  }
  torch::nn::Conv2d first = register_module("first", halving(1, 32));
  torch::nn::Conv2d second = register_module("second", halving(32, 64));
  torch::nn::Linear output = register_module("output", torch::nn::Linear(64 * 2 * 2, 1));
};
TORCH_MODULE(Discriminator);

torch::Tensor loss_of(const torch::Tensor& scores, double real) {
  return torch::binary_cross_entropy_with_logits(scores, torch::full_like(scores, real));
}

void train(int epochs) {
  muster::Accelerator accelerator({.sync_batch_norm = true});
  torch::manual_seed(1);
  Generator draws;
  Discriminator judges;
  const auto adam = torch::optim::AdamOptions(1e-3).betas({0.5, 0.999});
  auto [generator, discriminator, generator_steps, discriminator_steps, loader] =
      accelerator.prepare(
          draws, judges, torch::optim::Adam(draws->parameters(), adam),
          torch::optim::Adam(judges->parameters(), adam),
          muster::DataLoader(digits::read_images(digits::default_file()).train,
                             {.batch_size = 64 / accelerator.num_processes(), .shuffle = true}));
  const auto samples = torch::randn({10, noise_size});
  torch::manual_seed(2 + static_cast<std::uint64_t>(accelerator.process_index()));  // Of the noise.

  auto bar = accelerator.progress("training", epochs * loader.size(), "images");
  std::int64_t steps = 0;
  for (int epoch = 0; epoch < epochs; ++epoch) {
    for (auto& batch : loader) {
      const auto drawn = generator(torch::randn({batch.data.size(0), noise_size}));
      {
        auto step = accelerator.accumulate(discriminator);
        discriminator_steps.zero_grad();  // Also what the generator's loss has left.
        accelerator.backward(loss_of(discriminator(batch.data), 0.9) +
                             loss_of(discriminator(drawn.detach()), 0));
        discriminator_steps.step();
      }
      auto step = accelerator.accumulate(generator);
      generator_steps.zero_grad();
      const auto loss = loss_of(discriminator(drawn), 1);
      accelerator.backward(loss);
      generator_steps.step();
      ++steps;
      bar.update(steps, steps * loader.total_batch_size());
    }
  }
  bar.finish();
  generator->eval();
  const torch::NoGradGuard no_grad;
  accelerator.print(gan::drawing(generator(samples)));
  accelerator.print("weights: ", accelerator.save_model(generator, "gan.safetensors").string());
}

}  // namespace

int main(int argc, char** argv) try {
  const int epochs = argc > 1 ? std::atoi(argv[1]) : 60;
  if (argc > 2 || epochs < 1) {
    std::cerr << "usage: gan [EPOCHS]\n";
    return 2;
  }
  train(epochs);
} catch (const std::exception& error) {
  std::cerr << "gan: " << error.what() << '\n';
  return 1;
}
