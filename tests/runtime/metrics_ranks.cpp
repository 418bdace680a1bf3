// Run by `muster launch -n N`: every rank runs every case, in the same order.

#include <muster/accelerator.hpp>
#include <muster/best.hpp>
#include <muster/data_loader.hpp>
#include <muster/ema.hpp>
#include <muster/error.hpp>
#include <muster/metrics.hpp>

#include <ATen/ATen.h>
#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <torch/nn/modules/linear.h>
#include <torch/optim/sgd.h>

#include <cmath>
#include <limits>
#include <unistd.h>

using Catch::Approx;
using muster::Accelerator;

namespace {

/// Calls update(rows) with this rank's batches of 97 samples, a prepared loader completing the
/// last; every rank gets as many batches.
template <class Update>
void over_batches(Accelerator& accelerator, std::int64_t count, Update&& update) {
  const auto ids = at::arange(count);
  auto loader =
      accelerator.prepare(muster::DataLoader(muster::TensorDataset(ids, ids), {.batch_size = 8}));
  for (auto& batch : loader) update(batch.data);
}

at::Tensor shared_random(const std::vector<std::int64_t>& shape, std::uint64_t seed) {
  at::manual_seed(seed);
  return at::rand(shape, at::kDouble);
}

/// By the definition: the share of pairs in order.
double auroc_of(const at::Tensor& scores, const at::Tensor& targets) {
  double in_order = 0, pairs = 0;
  for (std::int64_t i = 0; i < scores.numel(); ++i) {
    for (std::int64_t j = 0; j < scores.numel(); ++j) {
      if (targets[i].item<int>() != 1 || targets[j].item<int>() != 0) continue;
      const double positive = scores[i].item<double>(), negative = scores[j].item<double>();
      in_order += positive > negative ? 1 : positive == negative ? 0.5 : 0;
      ++pairs;
    }
  }
  return in_order / pairs;
}

}  // namespace

TEST_CASE("the mean over ranks and completed batches has each sample once") {
  Accelerator accelerator;
  for (const std::int64_t count : {1, 9, 97, 100}) {
    const auto values = shared_random({count}, 1);
    muster::Mean mean(accelerator), weighted(accelerator);
    over_batches(accelerator, count, [&](const at::Tensor& rows) {
      mean.update(values.index({rows}));
      weighted.update(values.index({rows}), rows + 1);
    });
    CHECK(mean.compute() == Approx(values.mean().item<double>()).epsilon(1e-14));
    const auto weights = at::arange(count) + 1;
    const auto expected = (values * weights).sum() / weights.sum();
    CHECK(weighted.compute() == Approx(expected.item<double>()).epsilon(1e-14));
  }
}

TEST_CASE("means do not lose small numbers beside large ones") {
  const Accelerator accelerator;
  muster::Mean mean(accelerator);
  CHECK(std::isnan(mean.compute()));
  // In plain doubles the ones are lost: 1e16 + 1 is 1e16.
  for (const double value : {1e16, 1.0, 1.0, -1e16}) mean.update(value);
  CHECK(mean.compute() == 0.5);
  mean.reset();
  mean.update(2, accelerator.process_index() + 1);
  CHECK(mean.compute() == 2);
  CHECK_THROWS_AS(mean.update(at::ones({2}), at::ones({3})), muster::ConfigError);
  CHECK_THROWS_AS(mean.update(1, -1), muster::ConfigError);
}

TEST_CASE("accuracy of the first, and of the first k") {
  Accelerator accelerator;
  const std::int64_t count = 97;
  const auto scores = shared_random({count, 5}, 2);
  const auto targets = (shared_random({count}, 3) * 5).to(at::kLong);
  const auto order = scores.argsort(1, /*descending=*/true);
  for (const std::int64_t k : {1, 3}) {
    muster::Accuracy accuracy(accelerator, k);
    over_batches(accelerator, count, [&](const at::Tensor& rows) {
      accuracy.update(scores.index({rows}), targets.index({rows}));
    });
    const auto hits = order.narrow(1, 0, k).eq(targets.unsqueeze(1)).any(1).sum();
    CHECK(accuracy.compute() == hits.item<double>() / static_cast<double>(count));
  }
}

TEST_CASE("accuracy: ties, NaN, what does not count, and shapes") {
  const Accelerator accelerator;
  muster::Accuracy first(accelerator), two(accelerator, 2);
  CHECK(std::isnan(first.compute()));
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto scores = at::tensor({1.0, 1.0, 0.0, 0.0, nan, 2.0}, at::kDouble).view({2, 3});
  first.update(scores, at::tensor({std::int64_t{1}, std::int64_t{1}}));
  two.update(scores, at::tensor({std::int64_t{1}, std::int64_t{-100}}));
  CHECK(first.compute() == 0);  // The lower class has the higher rank, and NaN is missed.
  CHECK(two.compute() == 1);
  first.reset();
  first.update(at::tensor({std::int64_t{4}, std::int64_t{2}}),
               at::tensor({std::int64_t{4}, std::int64_t{3}}));
  CHECK(first.compute() == 0.5);
  CHECK_THROWS_AS(first.update(at::ones({2, 3}), at::ones({3})), muster::ConfigError);
  CHECK_THROWS_AS(first.update(at::ones({1, 3}), at::full({1}, 3)), muster::ConfigError);
  CHECK_THROWS_AS(muster::Accuracy(accelerator, 0), muster::ConfigError);
}

TEST_CASE("perplexity of all tokens") {
  Accelerator accelerator;
  const std::int64_t count = 17, length = 3, vocabulary = 11;
  const auto logits = shared_random({count, length, vocabulary}, 4) * 4;
  auto targets = (shared_random({count, length}, 5) * 11).to(at::kLong);
  targets[2].fill_(-100);
  muster::Perplexity perplexity(accelerator), summed(accelerator);
  over_batches(accelerator, count, [&](const at::Tensor& rows) {
    perplexity.update(logits.index({rows}), targets.index({rows}));
  });
  const auto flat = targets.view(-1);
  const auto kept = flat.ne(-100);
  const auto rows = logits.view({-1, vocabulary}).index({kept});
  const auto losses =
      rows.logsumexp(1) - rows.gather(1, flat.index({kept}).unsqueeze(1)).squeeze(1);
  CHECK(perplexity.compute() == Approx(std::exp(losses.mean().item<double>())).epsilon(1e-12));
  if (accelerator.is_main_process()) {
    summed.update(losses.sum().item<double>(), losses.numel());
  }
  CHECK(summed.compute() == Approx(perplexity.compute()).epsilon(1e-12));
  CHECK_THROWS_AS(perplexity.update(at::ones({2, 3}), at::ones({3})), muster::ConfigError);
}

TEST_CASE("F1: the numbers of scikit-learn's documentation, and of random classes") {
  Accelerator accelerator;
  const auto targets = at::tensor({0, 1, 2, 0, 1, 2}, at::kLong);
  const auto predictions = at::tensor({0, 2, 1, 0, 0, 1}, at::kLong);
  muster::F1 macro(accelerator, 3, muster::Average::macro);
  muster::F1 micro(accelerator, 3, muster::Average::micro);
  muster::F1 binary(accelerator);
  over_batches(accelerator, 6, [&](const at::Tensor& rows) {
    macro.update(predictions.index({rows}), targets.index({rows}));
    micro.update(predictions.index({rows}), targets.index({rows}));
    binary.update(predictions.index({rows}).clamp_max(1), targets.index({rows}).clamp_max(1));
  });
  CHECK(macro.compute() == Approx(0.8 / 3).epsilon(1e-14));
  CHECK(micro.compute() == Approx(1.0 / 3).epsilon(1e-14));
  CHECK(binary.compute() == Approx(2 * 3 / (2 * 3 + 0 + 1.0)).epsilon(1e-14));
  CHECK_THROWS_AS(macro.update(at::full({1}, 3), at::full({1}, 0)), muster::ConfigError);
  CHECK_THROWS_AS(muster::F1(accelerator, 3), muster::ConfigError);
}

TEST_CASE("AUROC: exact, with ties, over uneven ranks") {
  Accelerator accelerator;
  muster::Auroc known(accelerator);
  CHECK(std::isnan(known.compute()));
  if (accelerator.is_last_process()) {
    known.update(at::tensor({0.1, 0.4, 0.35, 0.8}), at::tensor({0, 0, 1, 1}));
  }
  CHECK(known.compute() == 0.75);
  const std::int64_t count = 61;
  const auto scores = (shared_random({count}, 6) * 8).floor();  // Many are equal.
  const auto targets = shared_random({count}, 7).gt(0.6);
  muster::Auroc random(accelerator);
  over_batches(accelerator, count, [&](const at::Tensor& rows) {
    random.update(scores.index({rows}), targets.index({rows}));
  });
  CHECK(random.compute() == Approx(auroc_of(scores, targets)).epsilon(1e-14));
  CHECK_THROWS_AS(random.update(at::ones({1}), at::full({1}, 2)), muster::ConfigError);
  CHECK_THROWS_AS(random.update(at::full({1}, NAN), at::ones({1})), muster::ConfigError);
}

TEST_CASE("a number that was averaged before is refused in a completed batch") {
  Accelerator accelerator;
  if (accelerator.num_processes() == 1) return;
  muster::Mean mean(accelerator);
  over_batches(accelerator, 9, [&](const at::Tensor& rows) {
    CHECK_THROWS_AS(mean.update(rows.to(at::kFloat).mean()), muster::ConfigError);
  });
}

TEST_CASE("EMA follows updates, and is lent to the model for a block") {
  Accelerator accelerator({.gradient_accumulation_steps = 2});
  auto linear = std::make_shared<torch::nn::LinearImpl>(torch::nn::LinearOptions(2, 1).bias(false));
  linear->weight.set_data(at::zeros({1, 2}));
  auto [model, optimizer] =
      accelerator.prepare(linear, torch::optim::SGD(linear->parameters(), /*lr=*/1.0));
  muster::Ema ema(model, {.decay = 0.75});
  double weight = 0, average = 0;
  for (int i = 0; i < 6; ++i) {
    const auto step = accelerator.accumulate(model);
    accelerator.backward(model(at::ones({4, 2})).mean() * -1);
    optimizer.step();
    optimizer.zero_grad();
    ema.update(optimizer);
    if (i % 2 == 0) continue;
    weight += 1;
    average = 0.75 * average + 0.25 * weight;
  }
  CHECK(ema.updates() == 3);
  CHECK(linear->weight[0][0].item<double>() == Approx(weight));
  {
    const auto averaged = ema.apply();
    CHECK(linear->weight[0][1].item<double>() == Approx(average));
  }
  CHECK(linear->weight[0][0].item<double>() == Approx(weight));
  auto state = ema.state();
  muster::Ema other(model);
  other.load_state(state);
  CHECK(other.updates() == 3);
  CHECK(at::equal(other.state().at("weight"), state.at("weight")));
  state.erase("weight");
  CHECK_THROWS_AS(other.load_state(state), muster::CheckpointError);
  CHECK_THROWS_AS(muster::Ema(model, {.decay = 1.5}), muster::ConfigError);
}

TEST_CASE("early stopping: all ranks stop together") {
  const Accelerator accelerator;
  muster::EarlyStopping stopping(accelerator, {.patience = 1, .min_delta = 0.1});
  const double other = accelerator.process_index();  // Only rank 0's counts.
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK_FALSE(stopping.should_stop(3 + other));
  CHECK_FALSE(stopping.should_stop(2.95 - other));
  CHECK_FALSE(stopping.should_stop(2.5 + other));
  CHECK_FALSE(stopping.should_stop(accelerator.is_main_process() ? nan : 0));
  muster::EarlyStopping again(accelerator, {.patience = 1, .min_delta = 0.1});
  again.load_state(stopping.state());
  CHECK(again.best() == 2.5);
  CHECK(again.should_stop(2.45));
  CHECK_THROWS_AS(again.load_state("x"), muster::CheckpointError);
  CHECK_THROWS_AS(muster::EarlyStopping(accelerator, {.patience = -1}), muster::ConfigError);
}

TEST_CASE("the best checkpoints stay, also for a program that is started anew") {
  const Accelerator accelerator;
  const auto name = accelerator.broadcast_object("muster-best-" + std::to_string(getpid()));
  const auto folder = std::filesystem::temp_directory_path() / name;
  int saves = 0;
  const auto save = [&](const std::filesystem::path& path) {
    ++saves;
    accelerator.on_main_process([&] { std::filesystem::create_directory(path); });
  };
  {
    muster::BestCheckpoints best(accelerator, folder, 2);
    CHECK(best.offer(3, "a", save));
    CHECK(best.offer(1, "b", save));
    CHECK_FALSE(best.offer(4, "c", save));
    CHECK_FALSE(best.offer(std::numeric_limits<double>::quiet_NaN(), "d", save));
    CHECK_THROWS_AS(best.offer(0, "b", save), muster::ConfigError);
  }
  accelerator.wait_for_everyone();
  muster::BestCheckpoints best(accelerator, folder, 2);
  CHECK(best.offer(2, "e", save));
  CHECK(saves == 3);
  REQUIRE(best.kept().size() == 2);
  CHECK(best.kept().front().name == "b");
  CHECK(best.kept().back().name == "e");
  accelerator.on_main_process([&] {
    CHECK(std::filesystem::exists(folder / "e"));
    CHECK_FALSE(std::filesystem::exists(folder / "a"));
    std::filesystem::remove_all(folder);
  });
  CHECK_THROWS_AS(muster::BestCheckpoints(accelerator, folder, 0), muster::ConfigError);
}
