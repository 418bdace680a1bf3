// A small GPT learns to write like a book, character by character: alone, or on the ranks of
// `muster launch -n N -- text`.

#include <muster/muster.hpp>

#include "book.hpp"
#include "gpt.hpp"

#include <torch/torch.h>

#include <cmath>
#include <cstdlib>
#include <iostream>

namespace {

constexpr std::int64_t batch_rows = 32;  // Of all ranks together.

torch::Tensor loss_of(const torch::Tensor& scores, const torch::Tensor& target) {
  return torch::nn::functional::cross_entropy(scores.flatten(0, 1), target.flatten());
}

std::filesystem::path shared_file(const char* name) {
  const auto program = std::filesystem::read_symlink("/proc/self/exe");
  return program.parent_path().parent_path() / "share" / "muster" / name;
}

/// Goes on from `start`, one drawn character after the other.
std::string written(text::Gpt& module, const text::Alphabet& alphabet, const text::GptSize& size,
                    const std::string& start) {
  const torch::NoGradGuard no_grad;
  auto ids = alphabet.ids(start).unsqueeze(0);
  for (int count = 0; count < 300; ++count) {
    const auto seen = ids.size(1) > size.context ? ids.slice(1, -size.context) : ids;
    const auto scores = module.forward(seen).select(1, -1).div(0.8);
    ids = torch::cat({ids, torch::multinomial(torch::softmax(scores, -1), 1)}, 1);
  }
  std::string result;
  for (std::int64_t i = 0; i < ids.size(1); ++i) {
    result += alphabet.character(ids[0][i].item<std::int64_t>());
  }
  return result;
}

void train(int epochs) {
  muster::Accelerator accelerator(
      {.gradient_accumulation_steps = 2, .mixed_precision = "bf16", .log_with = "jsonl,html"});
  const auto book = text::read_book(shared_file("tom-sawyer.txt"));
  const text::Alphabet alphabet(book);
  const text::GptSize size{.characters = alphabet.size()};
  const auto ids = alphabet.ids(book);
  const auto trained = ids.size(0) * 9 / 10;

  torch::manual_seed(1);
  auto module = std::make_shared<text::Gpt>(size);
  torch::optim::AdamW adamw(module->parameters(),
                            torch::optim::AdamWOptions(2e-3).weight_decay(0.1));
  const auto rows = batch_rows / 2 / accelerator.num_processes();
  muster::DataLoader stretches(text::Stretches(ids.narrow(0, 0, trained), size.context),
                               {.batch_size = rows, .shuffle = true});
  auto [model, optimizer, loader, held_out] =
      accelerator.prepare(module, adamw, std::move(stretches),
                          muster::DataLoader(text::Stretches(ids.slice(0, trained), size.context),
                                             {.batch_size = rows}));
  const auto steps = epochs * ((loader.size() + 1) / 2);
  auto scheduler = accelerator.prepare(muster::WarmupLR{
      .num_warmup_steps = steps / 10, .then = muster::CosineLR{.total_iters = steps - steps / 10}});
  accelerator.init_trackers("text", {{"epochs", epochs}, {"width", size.width}});

  for (int epoch = 1; epoch <= epochs; ++epoch) {
    auto bar = accelerator.progress("epoch " + std::to_string(epoch), loader.size(), "stretches");
    std::int64_t batches = 0;
    for (auto& batch : loader) {
      auto step = accelerator.accumulate(model);
      const auto loss = loss_of(model(batch.data), batch.target);
      accelerator.backward(loss);
      accelerator.clip_grad_norm(model, 1.0);
      optimizer.step();
      scheduler.step();
      optimizer.zero_grad();
      if (accelerator.sync_gradients()) accelerator.log({{"loss", loss}});
      ++batches;
      bar.update(batches, batches * loader.total_batch_size());
    }

    model->eval();
    const torch::NoGradGuard no_grad;
    auto sum = torch::zeros({2}, torch::kDouble);
    for (auto& batch : held_out) {
      const auto losses = torch::nn::functional::cross_entropy(
          model(batch.data).transpose(1, 2), batch.target,
          torch::nn::functional::CrossEntropyFuncOptions().reduction(torch::kNone));
      const auto all = accelerator.gather_for_metrics(losses.mean(1));
      sum += torch::stack({all.sum(), torch::tensor(static_cast<double>(all.size(0)))});
    }
    const double loss = (sum[0] / sum[1]).item<double>();
    accelerator.log({{"held-out loss", loss}, {"bits a character", loss / std::log(2.0)}});
    bar.finish("held-out loss " + std::to_string(loss));
    model->train();
  }
  accelerator.on_main_process(
      [&] { std::cout << written(*module, alphabet, size, "Tom said ") << "\n"; });
  accelerator.print("weights: ", accelerator.save_model(model, "text.safetensors").string());
  accelerator.end_training();
}

}  // namespace

int main(int argc, char** argv) try {
  const int epochs = argc > 1 ? std::atoi(argv[1]) : 6;
  if (argc > 2 || epochs < 1) {
    std::cerr << "usage: text [EPOCHS]\n";
    return 2;
  }
  train(epochs);
} catch (const std::exception& error) {
  std::cerr << "text: " << error.what() << '\n';
  return 1;
}
