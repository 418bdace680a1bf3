// Learns to read handwritten digits: alone, or on the ranks of `muster launch -n N -- digits`.

#include <muster/muster.hpp>

#include "images.hpp"
#include "options.hpp"
#include "steps_log.hpp"
#include "tally.hpp"

#include <torch/torch.h>

#include <iomanip>
#include <iostream>

struct Net : torch::nn::Module {
  torch::Tensor forward(torch::Tensor x) {  // [n, 1, 8, 8] to [n, 10]
    x = torch::relu(conv1(x));
    x = torch::max_pool2d(torch::relu(conv2(x)), 2);
    return output(torch::relu(hidden(x.flatten(1))));
  }
  static torch::nn::Conv2d conv3x3(int in, int out) {
    return torch::nn::Conv2d(torch::nn::Conv2dOptions(in, out, 3).padding(1));
  }
  torch::nn::Conv2d conv1 = register_module("conv1", conv3x3(1, 16));
  torch::nn::Conv2d conv2 = register_module("conv2", conv3x3(16, 32));
  torch::nn::Linear hidden = register_module("hidden", torch::nn::Linear(512, 128));
  torch::nn::Linear output = register_module("output", torch::nn::Linear(128, 10));
};

std::string title(int epoch, int epochs) {
  return "epoch " + std::to_string(epoch) + "/" + std::to_string(epochs);
}

void train(const digits::Options& options) {
  muster::Accelerator accelerator;
  auto images = digits::read_images(options.data);

  torch::manual_seed(0);
  auto module = std::make_shared<Net>();
  torch::optim::AdamW adamw(module->parameters(), options.learning_rate);
  auto [model, optimizer, loader, test_loader] = accelerator.prepare(
      module, adamw,
      muster::DataLoader(images.train, {.batch_size = options.batch_size, .shuffle = true}),
      muster::DataLoader(images.test, {.batch_size = 64}));
  digits::StepsLog steps_log(accelerator, options.steps_log);

  for (int epoch = 1; epoch <= options.epochs; ++epoch) {
    auto bar = accelerator.progress(title(epoch, options.epochs), loader.size(), "images");
    digits::Tally tally;
    for (auto& batch : loader) {
      auto step = accelerator.accumulate(model);
      auto scores = model(batch.data);
      auto loss = torch::nn::functional::cross_entropy(scores, batch.target);
      accelerator.backward(loss);
      optimizer.step();
      optimizer.zero_grad();

      steps_log.add(loss);
      tally.add(loss, scores, batch.target);
      bar.update(tally.steps(), tally.steps() * loader.total_batch_size(), tally.text());
    }
    bar.finish(tally.over_all_ranks(accelerator).text());
  }

  model->eval();
  torch::NoGradGuard no_grad;
  std::int64_t right = 0, count = 0;
  for (auto& batch : test_loader) {
    auto guess = model(batch.data).argmax(1);
    auto [guesses, targets] = accelerator.gather_for_metrics(guess, batch.target);
    right += guesses.eq(targets).sum().item<std::int64_t>();
    count += targets.size(0);
  }
  auto file = accelerator.save_model(model, options.out);
  accelerator.print(std::fixed, std::setprecision(3), "test accuracy ",
                    static_cast<double>(right) / static_cast<double>(count), " (", right, " of ",
                    count, ")   weights: ", file.string());
}

int main(int argc, char** argv) try {
  const auto options = digits::parse_options(argc, argv);
  if (options.help) {
    std::cout << digits::usage;
  } else {
    train(options);
  }
} catch (const std::invalid_argument& error) {
  std::cerr << "digits: " << error.what() << "\n" << digits::usage;
  return 2;
} catch (const std::exception& error) {
  std::cerr << "digits: " << error.what() << '\n';
  return 1;
}
