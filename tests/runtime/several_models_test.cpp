// One process: a world of one, with models that train each other.

#include <muster/accelerator.hpp>

#include "nets.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <torch/torch.h>

using muster::Accelerator;
using muster::test::copies;
using muster::test::differing;

namespace {

/// A critic and a maker, equal whenever they are made.
struct Pair {
  Pair() {
    torch::manual_seed(7);
    critic = std::make_shared<muster::test::Mlp>();
    maker = std::make_shared<torch::nn::LinearImpl>(3, 8);
  }
  torch::Tensor real_loss(int round) const {
    return critic->forward(torch::full({2, 8}, 1.0 + round)).square().mean();
  }
  torch::Tensor made_loss(int round) const {
    return critic->forward(maker->forward(torch::full({2, 3}, 0.5 * round + 1))).mean();
  }
  std::vector<torch::Tensor> weights() const {
    auto all = copies(critic->parameters());
    for (const auto& tensor : copies(maker->parameters())) all.push_back(tensor);
    return all;
  }
  std::shared_ptr<muster::test::Mlp> critic;
  std::shared_ptr<torch::nn::LinearImpl> maker;
};

constexpr int rounds = 3;

/// In LibTorch alone. `first`: zero_grad stands before the backward, as usual, or after the step.
std::vector<torch::Tensor> by_hand(bool first) {
  const Pair pair;
  torch::optim::SGD critic_steps(pair.critic->parameters(), 0.1);
  torch::optim::SGD maker_steps(pair.maker->parameters(), 0.1);
  for (int round = 0; round < rounds; ++round) {
    if (first) critic_steps.zero_grad();
    pair.real_loss(round).backward();
    critic_steps.step();
    if (!first) critic_steps.zero_grad();
    if (first) maker_steps.zero_grad();
    pair.made_loss(round).backward();
    maker_steps.step();
    if (!first) maker_steps.zero_grad();
  }
  return pair.weights();
}

enum class Zero { before_scope, in_scope, after_step };

std::vector<torch::Tensor> prepared(Zero place) {
  Accelerator accelerator;
  const Pair pair;
  auto [critic, maker, critic_steps, maker_steps] = accelerator.prepare(
      pair.critic, pair.maker, torch::optim::SGD(pair.critic->parameters(), 0.1),
      torch::optim::SGD(pair.maker->parameters(), 0.1));
  const auto step = [&](const auto& model, muster::Optimizer& optimizer, auto loss) {
    if (place == Zero::before_scope) optimizer.zero_grad();
    const auto scope = accelerator.accumulate(model);
    if (place == Zero::in_scope) optimizer.zero_grad();
    accelerator.backward(loss());
    optimizer.step();
    if (place == Zero::after_step) optimizer.zero_grad();
  };
  for (int round = 0; round < rounds; ++round) {
    step(critic, critic_steps, [&] { return pair.real_loss(round); });
    step(maker, maker_steps, [&] { return pair.made_loss(round); });
  }
  return pair.weights();
}

}  // namespace

TEST_CASE("two models that train each other compute what they do in LibTorch alone") {
  const auto usual = by_hand(true), late = by_hand(false);
  CHECK_FALSE(differing(usual, late, 1e-6).empty());
  CHECK(differing(prepared(Zero::before_scope), usual, 1e-6).empty());
  CHECK(differing(prepared(Zero::in_scope), usual, 1e-6).empty());
  CHECK(differing(prepared(Zero::after_step), late, 1e-6).empty());
}

TEST_CASE("another model's loss stays out of a window that no_sync has begun") {
  Accelerator accelerator;
  const Pair pair;
  auto [critic, maker, critic_steps, maker_steps] = accelerator.prepare(
      pair.critic, pair.maker, torch::optim::SGD(pair.critic->parameters(), 1.0),
      torch::optim::SGD(pair.maker->parameters(), 1.0));
  const auto before = pair.critic->output->bias.detach().clone();
  const auto made = pair.maker->bias.detach().clone();
  const auto critics_loss = [&] { return pair.critic->forward(torch::ones({1, 8})).sum(); };
  {
    const auto scope = accelerator.no_sync(critic);
    const auto step = accelerator.accumulate(critic);
    accelerator.backward(critics_loss());
  }
  {
    const auto step = accelerator.accumulate(maker);
    accelerator.backward(100 * pair.made_loss(0));
    maker_steps.step();
  }
  const auto step = accelerator.accumulate(critic);
  accelerator.backward(critics_loss());
  critic_steps.step();
  CHECK(torch::allclose(pair.critic->output->bias, before - 1));
  CHECK_FALSE(torch::equal(pair.maker->bias, made));
}

TEST_CASE("two optimizers of one model: what each has not cleared stays as in LibTorch") {
  Accelerator accelerator;
  const Pair pair;
  auto [critic, maker, body_steps, head_steps] = accelerator.prepare(
      pair.critic, pair.maker, torch::optim::SGD(pair.critic->hidden->parameters(), 1.0),
      torch::optim::SGD(pair.critic->output->parameters(), 1.0));
  {
    const auto step = accelerator.accumulate(maker);
    accelerator.backward(pair.critic->forward(pair.maker->forward(torch::ones({1, 3}))).sum());
  }
  const auto before = pair.critic->output->bias.detach().clone();
  const auto step = accelerator.accumulate(critic);
  body_steps.zero_grad();  // and not the head's
  accelerator.backward(2 * pair.critic->forward(torch::ones({1, 8})).sum());
  CHECK(torch::allclose(pair.critic->output->bias.grad(), torch::full({4}, 3.0)));
  head_steps.step();
  CHECK(torch::allclose(pair.critic->output->bias, before - 3));
}
