#include "strategies/gradient_window.hpp"

#include <muster/error.hpp>

#include "backends/strategies/support/meshes.hpp"
#include "backends/strategies/support/toy.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <torch/optim/optimizer.h>

#include <stdexcept>

using namespace muster;
using namespace muster::test;

namespace {

const auto plain_sgd = make_sgd(0.1);

/// The mean gradient of a fresh copy of `like` over these micro-batches, summed in their order.
std::vector<at::Tensor> mean_gradient(const Toy& like, const std::vector<std::uint64_t>& batches) {
  Toy toy;
  const auto from = like.parameters();
  const auto to = toy.parameters();
  for (std::size_t index = 0; index < to.size(); ++index)
    to[index].set_data(from[index].detach().clone());
  for (const auto batch : batches) toy.loss(batch).backward();
  for (const auto& parameter : to) {
    if (batches.size() > 1)
      parameter.mutable_grad().mul_(1.0 / static_cast<double>(batches.size()));
  }
  return gradients_of(to);
}

struct Gradients {
  std::vector<at::Tensor> found, expected;
};

/// A backward of two parameters whose second one is not used if `only_first`.
struct Pair {
  at::Tensor a = leaf({3}, 1), b = leaf({3}, 2);
  std::unique_ptr<torch::optim::Optimizer> optimizer;
  std::unique_ptr<Strategy> strategy;

  Pair(const MeshPtr& mesh, const MakeOptimizer& make, StrategyOptions options = {})
      : optimizer(make({a, b})), strategy(make_data_parallel(mesh, std::move(options))) {
    strategy->prepare({{{"a", a}, {"b", b}}, {}});
    strategy->attach(*optimizer);
  }
  void micro_step(const at::Tensor& loss, bool closing = true) {
    strategy->begin_micro_step(closing);
    loss.backward();
    strategy->end_micro_step();
  }
  std::vector<at::Tensor> gradients() const { return gradients_of({a, b}); }
  std::vector<at::Tensor> weights() const { return copies({a, b}); }
};

at::Tensor ones_of(const at::Tensor& tensor) { return tensor.detach().new_ones(tensor.sizes()); }

class FailingBackward {
 public:
  /// A loss whose backward throws after the gradient of `parameter` was added, before others'.
  static at::Tensor loss(const at::Tensor& parameter, const at::Tensor& others) {
    auto product = others * 2;
    product.register_hook([](const at::Tensor&) -> void { throw std::runtime_error("no memory"); });
    return product.sum() + parameter.square().sum();
  }
};

}  // namespace

TEST_CASE("a bare backward is finished by the step or the clip", "[strategies]") {
  const bool clip = GENERATE(false, true);
  const auto all = on_ranks(2, [&](const MeshPtr& mesh) {
    Rig rig(mesh, plain_sgd);
    const auto rank = static_cast<std::uint64_t>(mesh->world().rank());
    Gradients result;
    for (std::uint64_t step = 0; step < 3; ++step) {
      result.expected = mean_gradient(rig.toy, {2 * step, 2 * step + 1});
      rig.toy.loss(2 * step + rank).backward();
      if (clip) rig.strategy->clip_grad_norm(1e9, 2, {});
      rig.strategy->step(*rig.optimizer);
      result.found = gradients_of(rig.toy.parameters());
      rig.strategy->zero_grad(rig.optimizer.get());
    }
    return result;
  });
  for (const auto& rank : all) CHECK(all_equal(rank.found, rank.expected));
}

TEST_CASE("LibTorch's order, zero_grad first, gives the same", "[strategies]") {
  const auto train = [](const MeshPtr& mesh, int place) {
    Rig rig(mesh, make_adamw(0.01));
    for (std::uint64_t micro = 0; micro < 12; ++micro) {
      const bool closing = micro % 3 == 2;
      const auto zero = [&](int here) {
        if (place == here) rig.strategy->zero_grad(rig.optimizer.get());
      };
      zero(0);
      rig.strategy->begin_micro_step(closing);
      zero(1);
      rig.toy.loss(micro).backward();
      rig.strategy->end_micro_step();
      zero(2);
      if (closing) rig.strategy->step(*rig.optimizer);
      zero(3);
    }
    return copies(rig.toy.parameters());
  };
  const auto expected = train(alone(), 3);
  for (const int place : {0, 1, 2, 4}) CHECK(all_equal(train(alone(), place), expected));
}

TEST_CASE("two backwards a step give the sum of two means, a reduced bucket is not reduced again",
          "[strategies]") {
  const std::int64_t bytes = GENERATE(1, 1 << 20);
  const auto all = on_ranks(2, [&](const MeshPtr& mesh) {
    Rig rig(mesh, plain_sgd, buckets(bytes));
    const auto rank = static_cast<std::uint64_t>(mesh->world().rank());
    Gradients result;
    for (std::uint64_t step = 0; step < 3; ++step) {
      result.expected = mean_gradient(rig.toy, {4 * step, 4 * step + 1});
      const auto second = mean_gradient(rig.toy, {4 * step + 2, 4 * step + 3});
      for (std::size_t index = 0; index < second.size(); ++index)
        result.expected[index].add_(second[index]);
      rig.micro_step(4 * step + rank, true);
      rig.micro_step(4 * step + 2 + rank, true);
      result.found = gradients_of(rig.toy.parameters());
      rig.step();
    }
    return result;
  });
  for (const auto& rank : all) CHECK(all_equal(rank.found, rank.expected));
}

TEST_CASE("a second backward in one closing micro-step has the divisor of its window",
          "[strategies]") {
  const auto all = on_ranks(2, [](const MeshPtr& mesh) {
    Pair pair(mesh, plain_sgd);
    pair.micro_step(pair.a.sum(), false);
    pair.micro_step(pair.a.sum());
    pair.b.sum().backward();
    pair.strategy->end_micro_step();
    return pair.gradients();
  });
  for (const auto& rank : all) {
    CHECK(all_equal(rank, {ones_of(rank[0]), ones_of(rank[1]) * 0.25 * 2}));
  }
}

TEST_CASE("means that no step has consumed are added to, or dropped after zero_grad",
          "[strategies]") {
  const bool zero = GENERATE(false, true);
  Pair pair(alone(), plain_sgd);
  pair.micro_step(pair.a.sum());
  if (zero) pair.strategy->zero_grad(nullptr);
  pair.micro_step(pair.a.sum());
  CHECK(all_equal(pair.gradients(), {ones_of(pair.a) * (zero ? 1 : 2), at::Tensor()}));
}

TEST_CASE("unused on one rank: the mean with zeros; unused everywhere: untouched", "[strategies]") {
  const auto make = make_adamw(0.1);
  const auto all = on_ranks(2, [&](const MeshPtr& mesh) {
    Pair pair(mesh, make);
    const bool first = mesh->world().rank() == 0;
    pair.micro_step(first ? (pair.a + pair.b).sum() : pair.a.sum());
    auto result = pair.gradients();
    pair.strategy->step(*pair.optimizer);
    pair.strategy->zero_grad(nullptr);
    const auto before = pair.weights();
    pair.micro_step(pair.a.sum());
    result.push_back(pair.b.grad());
    pair.strategy->step(*pair.optimizer);
    const auto after = pair.weights();
    result.push_back(after[0] - before[0]);
    result.push_back(after[1] - before[1]);
    return result;
  });
  for (const auto& rank : all) {
    CHECK(all_equal({rank[0], rank[1]}, {ones_of(rank[0]), ones_of(rank[0]) * 0.5}));
    CHECK_FALSE(rank[2].defined());
    CHECK(rank[3].abs().min().item<double>() > 0);
    CHECK(rank[4].abs().max().item<double>() == 0);
  }
}

TEST_CASE("a rank without a backward sends zeros at the step; the mean is over backwards",
          "[strategies]") {
  const bool announced = GENERATE(false, true);
  const auto all = on_ranks(3, [&](const MeshPtr& mesh) {
    Pair pair(mesh, plain_sgd);
    for (int step = 0; step < 3; ++step) {
      if (announced) pair.strategy->begin_micro_step(true);
      if (mesh->world().rank() != 1) {
        (pair.a.sum() * (mesh->world().rank() + 1)).backward();
        if (announced) pair.strategy->end_micro_step();
      }
      pair.strategy->step(*pair.optimizer);
      if (step < 2) pair.strategy->zero_grad(pair.optimizer.get());
    }
    return std::vector<at::Tensor>{pair.a.grad(), pair.a.detach()};
  });
  for (const auto& rank : all) {
    CHECK(all_equal({rank[0]}, {ones_of(rank[0]) * 2}));
    CHECK(all_equal({rank[1]}, {all[0][1]}));
  }
}

TEST_CASE("continue in a micro-step that only accumulates: fewer backwards, same mean",
          "[strategies]") {
  const auto all = on_ranks(2, [](const MeshPtr& mesh) {
    Pair pair(mesh, plain_sgd);
    for (int micro = 0; micro < 3; ++micro) {
      pair.strategy->begin_micro_step(micro == 2);
      if (mesh->world().rank() == 1 && micro == 1) continue;
      (pair.a.sum() * (micro + 1)).backward();
      pair.strategy->end_micro_step();
    }
    return pair.a.grad();
  });
  // (1 + 2 + 3 + 1 + 3) / 5
  for (const auto& rank : all) CHECK(all_equal({rank}, {ones_of(rank) * 2}));
}

TEST_CASE("a rank that leaves a closing micro-step: no rank steps, all go on together",
          "[strategies]") {
  struct Result {
    std::vector<at::Tensor> before, after, later;
    StrategyCounters counters;
  };
  const auto all = on_ranks(2, [](const MeshPtr& mesh) {
    Pair pair(mesh, make_sgd(0.1, 0.9));
    Result result{pair.weights(), {}, {}, {}};
    for (int step = 0; step < 3; ++step) {
      pair.strategy->begin_micro_step(true);
      if (step == 1) result.after = pair.weights();
      if (mesh->world().rank() == 1 && step == 0) continue;
      ((pair.a * pair.b).sum() * (step + 1)).backward();
      pair.strategy->end_micro_step();
      pair.strategy->clip_grad_norm(1, 2, {});
      pair.strategy->step(*pair.optimizer);
      pair.strategy->zero_grad(pair.optimizer.get());
    }
    result.later = pair.weights();
    result.counters = pair.strategy->counters();
    return result;
  });
  CHECK(all_equal(all[0].after, all[0].before));
  CHECK(all_equal(all[1].after, all[1].before));
  CHECK(all_equal(all[0].later, all[1].later));
  CHECK_FALSE(all_equal(all[0].later, all[0].before));
  CHECK(all[0].counters.steps == 2);
  CHECK(all[1].counters.steps == 2);
  CHECK(all[0].counters.skipped == 1);
}

TEST_CASE("a window that all ranks leave waits for the next", "[strategies]") {
  const auto all = on_ranks(2, [](const MeshPtr& mesh) {
    Pair pair(mesh, plain_sgd);
    pair.micro_step(pair.a.sum(), false);
    pair.strategy->begin_micro_step(true);
    pair.micro_step(pair.a.sum());
    return pair.a.grad();
  });
  for (const auto& rank : all) CHECK(all_equal({rank}, {ones_of(rank) * 2}));
}

TEST_CASE("a rank that steps once more is named on all ranks", "[strategies]") {
  const auto errors = errors_on_ranks<ModelError>(2, [](const MeshPtr& mesh) {
    Pair pair(mesh, plain_sgd);
    auto other = make_sgd(0.1)({pair.a});
    pair.strategy->attach(*other);
    pair.micro_step(pair.a.sum());
    pair.strategy->step(*pair.optimizer);
    if (mesh->world().rank() == 1) pair.strategy->step(*other);
    pair.micro_step(pair.a.sum());
  });
  CHECK(errors[0] == errors[1]);
  CHECK(errors[0].find("rank 0 is at step 1, closing micro-step 2; rank 1 at step 2, closing") !=
        std::string::npos);
}

TEST_CASE("a backward that throws leaves the rank out of the mean; the next step is whole",
          "[strategies]") {
  const std::int64_t bytes = GENERATE(1, 1 << 20);
  struct Result {
    at::Tensor broken, next, weights;
  };
  const auto all = on_ranks(2, [&](const MeshPtr& mesh) {
    Pair pair(mesh, plain_sgd, buckets(bytes));
    const auto whole = [&] { return (pair.a.sum() + pair.b.sum()) * (mesh->world().rank() + 1); };
    pair.micro_step(whole());
    pair.strategy->step(*pair.optimizer);
    pair.strategy->zero_grad(nullptr);
    pair.strategy->begin_micro_step(true);
    try {
      const bool fails = mesh->world().rank() == 1;
      (fails ? FailingBackward::loss(pair.b, pair.a) : whole()).backward();
      pair.strategy->end_micro_step();
    } catch (const std::runtime_error&) {
      // As a program that goes on.
    }
    pair.strategy->step(*pair.optimizer);
    Result result;
    result.broken = pair.a.grad().clone();
    pair.strategy->zero_grad(nullptr);
    pair.micro_step(whole());
    result.next = pair.a.grad().clone();
    pair.strategy->step(*pair.optimizer);
    result.weights = pair.b.detach().clone();
    return result;
  });
  for (const auto& rank : all) {
    CHECK(all_equal({rank.broken}, {ones_of(rank.broken)}));
    CHECK(all_equal({rank.next}, {ones_of(rank.next) * 1.5}));
    CHECK(all_equal({rank.weights}, {all[0].weights}));
  }
}

TEST_CASE("retain_graph: two backwards through one graph add up", "[strategies]") {
  Pair pair(alone(), plain_sgd);
  const auto loss = pair.a.square().sum();
  pair.strategy->begin_micro_step(false);
  loss.backward({}, /*retain_graph=*/true);
  pair.strategy->end_micro_step();
  pair.strategy->begin_micro_step(true);
  loss.backward();
  pair.strategy->end_micro_step();
  CHECK(all_equal({pair.a.grad()}, {(pair.a * 2).detach()}));
}

TEST_CASE("create_graph: .grad stays differentiable until the window closes", "[strategies]") {
  const auto all = on_ranks(2, [](const MeshPtr& mesh) {
    Pair pair(mesh, plain_sgd);
    for (int step = 0; step < 3; ++step) {
      pair.strategy->begin_micro_step(true);
      pair.a.pow(3).sum().backward({}, /*retain_graph=*/true, /*create_graph=*/true);
      pair.a.grad().sum().backward();
      pair.strategy->end_micro_step();
      if (step < 2) {
        pair.strategy->step(*pair.optimizer);
        pair.strategy->zero_grad(nullptr);
      }
    }
    const auto a = pair.a.detach();
    return std::vector<at::Tensor>{pair.a.grad(), a.square() * 3 + a * 6};
  });
  for (const auto& rank : all) {
    CHECK_FALSE(rank[0].requires_grad());
    CHECK(all_close({rank[0]}, {rank[1]}, 1e-5));
  }
}

TEST_CASE("a gradient that the program bound itself is taken", "[strategies]") {
  const auto all = on_ranks(2, [](const MeshPtr& mesh) {
    Pair pair(mesh, plain_sgd);
    const double rank = mesh->world().rank();
    // Without a backward, before the reduction; edited in place after it; replaced after it.
    pair.a.mutable_grad() = ones_of(pair.a) * rank;
    pair.strategy->synchronise();
    auto result = pair.gradients();
    pair.a.mutable_grad().mul_(4);
    pair.b.mutable_grad() = ones_of(pair.b) * 3;
    const auto before = pair.weights();
    pair.strategy->step(*pair.optimizer);
    result.push_back(before[0] - pair.a.detach());
    result.push_back(before[1] - pair.b.detach());
    return result;
  });
  for (const auto& rank : all) {
    CHECK(all_equal({rank[0], rank[1]}, {ones_of(rank[0]) * 0.5, at::Tensor()}));
    CHECK(all_close({rank[2], rank[3]}, {ones_of(rank[0]) * 0.2, ones_of(rank[0]) * 0.3}, 1e-5));
  }
}

TEST_CASE("a gradient that the program cleared is not stepped on", "[strategies]") {
  Pair pair(alone(), make_adamw(0.1));
  pair.micro_step((pair.a * pair.b).sum());
  pair.b.mutable_grad().reset();
  const auto before = pair.weights();
  pair.strategy->step(*pair.optimizer);
  CHECK_FALSE(all_equal({pair.a.detach()}, {before[0]}));
  CHECK(all_equal({pair.b.detach()}, {before[1]}));
}

TEST_CASE("gradients later than usual are reduced alone and added", "[strategies]") {
  const auto all = on_ranks(2, [](const MeshPtr& mesh) {
    Pair pair(mesh, plain_sgd, buckets(1));
    for (int step = 0; step < 3; ++step) {
      pair.strategy->begin_micro_step(true);
      (pair.a.sum() + pair.b.sum()).backward();
      // On one rank only, into buckets that were sent.
      if (step > 0 && mesh->world().rank() == 1) pair.b.sum().backward();
      pair.strategy->end_micro_step();
      if (step < 2) {
        pair.strategy->step(*pair.optimizer);
        pair.strategy->zero_grad(nullptr);
      }
    }
    auto result = pair.gradients();
    result.push_back(at::Tensor(pair.a.detach().new_zeros({})) +
                     static_cast<double>(pair.strategy->counters().late));
    return result;
  });
  for (const auto& rank : all) {
    CHECK(all_equal({rank[0], rank[1]}, {ones_of(rank[0]), ones_of(rank[0]) * 1.5}));
    // The first time only: then that rank expects two.
    CHECK(rank[2].item<double>() == 1);
  }
}

TEST_CASE("gradients of other models' backwards stay local until zero_grad", "[strategies]") {
  Pair pair(alone(), plain_sgd);
  (pair.a.sum() * 5).backward();
  pair.strategy->zero_grad(pair.optimizer.get());
  CHECK_FALSE(pair.a.grad().defined());
  pair.micro_step(pair.a.sum());
  CHECK(all_equal({pair.a.grad()}, {ones_of(pair.a)}));
}

TEST_CASE("zero_grad in the first micro-step clears what came before the window", "[strategies]") {
  Pair pair(alone(), plain_sgd);
  (pair.a.sum() * 5).backward();
  CHECK_FALSE(pair.strategy->in_window());
  pair.strategy->begin_micro_step(false);
  CHECK(pair.strategy->in_window());
  pair.strategy->zero_grad(pair.optimizer.get());
  CHECK_FALSE(pair.a.grad().defined());
  pair.a.sum().backward();
  pair.strategy->end_micro_step();
  // Not the window's own.
  pair.strategy->zero_grad(pair.optimizer.get());
  pair.strategy->begin_micro_step(true);
  pair.strategy->zero_grad(pair.optimizer.get());
  (pair.a.sum() * 3).backward();
  pair.strategy->end_micro_step();
  CHECK(all_equal({pair.a.grad()}, {ones_of(pair.a) * 2}));
  CHECK_FALSE(pair.strategy->in_window());
}

TEST_CASE("without zero_grad what came before the window is added, as in LibTorch",
          "[strategies]") {
  Pair pair(alone(), plain_sgd);
  (pair.a.sum() * 5).backward();
  pair.micro_step(pair.a.sum());
  CHECK(all_equal({pair.a.grad()}, {ones_of(pair.a) * 6}));
}

TEST_CASE("two optimizers consume their own parameters", "[strategies]") {
  Pair pair(alone(), make_sgd(0.1));
  pair.strategy->detach(*pair.optimizer);
  auto for_a = make_sgd(0.1)({pair.a});
  auto for_b = make_sgd(0.1)({pair.b});
  pair.strategy->attach(*for_a);
  pair.strategy->attach(*for_b);
  pair.micro_step((pair.a + pair.b).sum());
  pair.strategy->step(*for_a);
  pair.micro_step((pair.a + pair.b).sum());
  CHECK(all_equal(pair.gradients(), {ones_of(pair.a), ones_of(pair.b) * 2}));
  const auto reductions = pair.strategy->counters().reductions;
  pair.strategy->step(*for_a);
  pair.strategy->step(*for_b);
  CHECK(pair.strategy->counters().reductions == reductions);
}

TEST_CASE("discard_gradients forgets the window", "[strategies]") {
  Pair pair(alone(), plain_sgd);
  pair.micro_step(pair.a.sum(), false);
  pair.strategy->discard_gradients();
  CHECK_FALSE(pair.a.grad().defined());
  pair.micro_step(pair.a.sum());
  CHECK(all_equal({pair.a.grad()}, {ones_of(pair.a)}));
  CHECK(pair.strategy->gradients_ready());
}
