// Run by `muster launch -n N`: every rank runs every case, in the same order.

#include <muster/accelerator.hpp>
#include <muster/checkpoint_activations.hpp>
#include <muster/error.hpp>

#include "nets.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <torch/script.h>
#include <torch/torch.h>

#include <array>

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using muster::Accelerator;
using muster::checkpoint_activations;
using muster::test::copies;
using muster::test::differing;
using muster::test::Mlp;
using muster::test::Normed;

namespace F = torch::nn::functional;

namespace {

torch::Generator seeded(std::uint64_t seed) {
  return at::make_generator<at::CPUGeneratorImpl>(seed);
}

std::vector<torch::Tensor> gradients(const torch::nn::Module& module) {
  std::vector<torch::Tensor> result;
  for (const auto& parameter : module.parameters()) result.push_back(parameter.grad().clone());
  return result;
}

template <class M>
std::shared_ptr<M> same_weights(std::shared_ptr<M> copy, const M& module) {
  const torch::NoGradGuard no_grad;
  for (const auto& item : module.named_parameters()) {
    copy->named_parameters()[item.key()].copy_(item.value());
  }
  for (const auto& item : module.named_buffers()) {
    copy->named_buffers()[item.key()].copy_(item.value());
  }
  return copy;
}

/// Micro-batch `index`: 1 to 9 tokens, each with 8 features and a class.
struct Tokens {
  explicit Tokens(std::int64_t index) : count(index * 5 % 9 + 1) {
    const auto generator = seeded(static_cast<std::uint64_t>(index));
    features = torch::randn({count, 8}, generator);
    classes = torch::randint(4, {count}, generator);
  }
  torch::Tensor loss_sum(const torch::Tensor& logits) const {
    return F::cross_entropy(logits, classes, F::CrossEntropyFuncOptions().reduction(torch::kSum));
  }
  std::int64_t count;
  torch::Tensor features, classes;
};

/// Rows of rank `rank`: 3, 4, 5, ... of them.
torch::Tensor rows_of(int rank, at::IntArrayRef sizes) {
  std::vector<std::int64_t> shape{3 + rank};
  shape.insert(shape.end(), sizes.begin(), sizes.end());
  return torch::randn(shape, seeded(static_cast<std::uint64_t>(rank) + 1)) + 2;
}

torch::Tensor rows_of_all(int ranks, at::IntArrayRef sizes) {
  std::vector<torch::Tensor> rows;
  for (int rank = 0; rank < ranks; ++rank) rows.push_back(rows_of(rank, sizes));
  return torch::cat(rows);
}

struct Picture : torch::nn::Module {
  torch::Tensor forward(const torch::Tensor& x) { return last(norm(first(x))).mean({2, 3}); }
  torch::nn::Conv2d first = register_module("first", torch::nn::Conv2d(3, 4, 3));
  torch::nn::BatchNorm2d norm = register_module("norm", torch::nn::BatchNorm2d(4));
  torch::nn::Conv2d last = register_module("last", torch::nn::Conv2d(4, 2, 3));
};

/// Trains `module` for three steps with batch norm over all ranks, and a copy alone on all rows.
template <class M>
void compare_with_whole_batch(Accelerator& accelerator, std::shared_ptr<M> module,
                              at::IntArrayRef sizes, bool channels_last) {
  const auto alone = same_weights(std::make_shared<M>(), *module);
  auto mine = rows_of(accelerator.process_index(), sizes);
  if (channels_last) mine = mine.contiguous(torch::MemoryFormat::ChannelsLast);
  const auto whole = rows_of_all(accelerator.num_processes(), sizes);
  auto [model, optimizer] =
      accelerator.prepare(module, torch::optim::SGD(module->parameters(), 0.1));
  torch::optim::SGD reference(alone->parameters(), 0.1);
  for (int step = 0; step < 3; ++step) {
    // Sums of squares, so that every row has its own gradient.
    const auto output = model(mine);
    accelerator.backward(output.square().sum(), mine.size(0));
    const auto expected = alone->forward(whole);
    expected.square().sum().div(whole.size(0)).backward();
    CHECK(torch::allclose(accelerator.gather_for_metrics(output), expected, 1e-4, 1e-5));
    CHECK(differing(gradients(*module), gradients(*alone), 1e-4).empty());
    optimizer.step();
    optimizer.zero_grad();
    reference.step();
    reference.zero_grad();
    CHECK(differing(module->buffers(), alone->buffers(), 1e-5).empty());
  }
}

}  // namespace

TEST_CASE("gradients are means over what is counted, however it is split") {
  for (const int steps : {1, 2, 4}) {
    Accelerator accelerator({.gradient_accumulation_steps = steps});
    torch::manual_seed(1);
    auto module = std::make_shared<Mlp>();
    const auto alone = same_weights(std::make_shared<Mlp>(), *module);
    const auto model = accelerator.prepare(module);
    for (int micro = 0; micro < steps; ++micro) {
      const auto scope = accelerator.accumulate(model);
      const Tokens own(micro * accelerator.num_processes() + accelerator.process_index());
      accelerator.backward(own.loss_sum(model(own.features)), own.count);
    }
    torch::Tensor loss = torch::zeros({});
    std::int64_t count = 0;
    for (int index = 0; index < steps * accelerator.num_processes(); ++index) {
      const Tokens tokens(index);
      loss = loss + tokens.loss_sum(alone->forward(tokens.features));
      count += tokens.count;
    }
    loss.div(count).backward();
    CHECK(differing(gradients(*module), gradients(*alone), 1e-6).empty());
  }
}

TEST_CASE("a rank whose batch has nothing to count adds nothing") {
  Accelerator accelerator;
  auto module = std::make_shared<Mlp>();
  const auto model = accelerator.prepare(module);
  const Tokens tokens(1);
  const bool first = accelerator.is_main_process();
  const auto loss = tokens.loss_sum(model(tokens.features));
  accelerator.backward(first ? loss : loss * 0, first ? tokens.count : 0);
  const auto got = gradients(*module);
  const auto alone = same_weights(std::make_shared<Mlp>(), *module);
  tokens.loss_sum(alone->forward(tokens.features)).div(tokens.count).backward();
  CHECK(differing(got, gradients(*alone), 1e-6).empty());
}

TEST_CASE("counted and plain losses in one window are refused on all ranks") {
  Accelerator accelerator;
  auto module = std::make_shared<Mlp>();
  const auto model = accelerator.prepare(module);
  CHECK_THROWS_AS(accelerator.backward(model(torch::ones({1, 8})).sum(), -1), muster::ConfigError);
  if (accelerator.num_processes() == 1) return;
  const auto loss = model(torch::ones({1, 8})).sum();
  const auto train = [&] {
    if (accelerator.is_main_process()) {
      accelerator.backward(loss, 3);
    } else {
      accelerator.backward(loss);
    }
  };
  CHECK_THROWS_MATCHES(train(), muster::ModelError,
                       MessageMatches(ContainsSubstring("on different ranks")));
}

TEST_CASE("batch norm over all ranks equals one over the whole batch") {
  Accelerator accelerator({.sync_batch_norm = true});
  torch::manual_seed(2);
  compare_with_whole_batch(accelerator, std::make_shared<Normed>(), {8}, false);
  compare_with_whole_batch(accelerator, std::make_shared<Picture>(), {3, 6, 6}, false);
  compare_with_whole_batch(accelerator, std::make_shared<Picture>(), {3, 6, 6}, true);
}

TEST_CASE("batch norm of a TorchScript module, and one without running statistics") {
  Accelerator accelerator({.sync_batch_norm = true});
  torch::jit::Module script("scripted");
  script.register_parameter("weight", torch::ones({4}), false);
  script.register_parameter("bias", torch::zeros({4}), false);
  script.define(R"(
    def forward(self, x):
      return torch.batch_norm(x, self.weight, self.bias, None, None, True, 0.1, 1e-5, False)
  )");
  auto model = accelerator.prepare(script);
  const auto mine = rows_of(accelerator.process_index(), {4});
  const auto whole = rows_of_all(accelerator.num_processes(), {4});
  const auto output = model(mine).toTensor();
  CHECK(torch::allclose(accelerator.gather_for_metrics(output.detach()),
                        (whole - whole.mean(0)) / (whole.var(0, false) + 1e-5).sqrt(), 1e-4, 1e-5));
}

TEST_CASE("batch norm without the option, in evaluation and of other modules is a rank's own") {
  Accelerator accelerator;
  const auto mine = rows_of(accelerator.process_index(), {8});
  const auto expected = (mine - mine.mean(0)) / (mine.var(0, false) + 1e-5).sqrt();
  torch::nn::BatchNorm1d plain(8), evaluated(8), stranger(8);
  const auto model = accelerator.prepare(plain.ptr());
  CHECK(torch::allclose(model(mine), expected, 1e-4, 1e-5));

  Accelerator synchronising({.sync_batch_norm = true});
  const auto other = synchronising.prepare(evaluated.ptr());
  other->eval();
  CHECK(torch::allclose(other(mine), mine / std::sqrt(1 + 1e-5), 1e-4, 1e-5));
  CHECK(torch::allclose(stranger(mine), expected, 1e-4, 1e-5));
}

TEST_CASE("a batch of one value a channel on all ranks together is refused") {
  Accelerator accelerator({.sync_batch_norm = true});
  if (accelerator.num_processes() == 1) return;
  torch::jit::Module script("scripted");
  script.register_parameter("weight", torch::ones({4}), false);
  script.define(R"(
    def forward(self, x):
      return torch.batch_norm(x, self.weight, None, None, None, True, 0.1, 1e-5, False)
  )");
  auto model = accelerator.prepare(script);
  const auto rows = accelerator.is_main_process() ? 1 : 0;
  // TorchScript makes an error of its own of it.
  CHECK_THROWS_WITH(model(torch::ones({rows, 4})), ContainsSubstring("1 value a channel"));
}

namespace {

struct Block : torch::nn::Module {
  explicit Block(bool again) : recompute(again) {}
  torch::Tensor part(const torch::Tensor& x) {
    return torch::relu(second(torch::dropout(torch::gelu(first(x)), 0.5, is_training())));
  }
  torch::Tensor forward(const torch::Tensor& x) {
    const auto twice = [this](const torch::Tensor& input) { return part(part(input)); };
    // No input requires a gradient, and the weights are used twice.
    return output(recompute ? checkpoint_activations(twice, x) : twice(x));
  }
  bool recompute;
  torch::nn::Linear first = register_module("first", torch::nn::Linear(8, 32));
  torch::nn::Linear second = register_module("second", torch::nn::Linear(32, 8));
  torch::nn::Linear output = register_module("output", torch::nn::Linear(8, 4));
};

std::vector<torch::Tensor> trained(bool recompute, bool one_model_alone) {
  Accelerator accelerator({.gradient_accumulation_steps = 2, .bucket_mb = 0.001});
  torch::manual_seed(3);
  auto module = std::make_shared<Block>(recompute);
  auto [model, optimizer] =
      accelerator.prepare(module, torch::optim::AdamW(module->parameters(), 1e-2));
  torch::manual_seed(4 + static_cast<std::uint64_t>(accelerator.process_index()));
  for (int micro = 0; micro < 10; ++micro) {
    const auto scope = accelerator.accumulate(model);
    const Tokens tokens(micro + accelerator.process_index());
    if (one_model_alone) model(tokens.features);  // A forward that nobody differentiates.
    accelerator.backward(tokens.loss_sum(model(tokens.features)));
    optimizer.step();
    optimizer.zero_grad();
  }
  return copies(module->parameters());
}

}  // namespace

TEST_CASE("activations computed again give the same bits, with dropout and accumulation") {
  for (const bool extra : {false, true}) {
    CHECK(differing(trained(true, extra), trained(false, extra)).empty());
  }
}

TEST_CASE("weights that several checkpointed parts share get the sum of all uses") {
  Accelerator accelerator;
  torch::manual_seed(6);
  auto module = std::make_shared<torch::nn::LinearImpl>(8, 8);
  const auto alone = same_weights(std::make_shared<torch::nn::LinearImpl>(8, 8), *module);
  const auto model = accelerator.prepare(module);
  const auto x = rows_of(0, {8});
  const auto part = [&](const torch::Tensor& input) { return torch::tanh(module->forward(input)); };
  accelerator.backward(checkpoint_activations(part, checkpoint_activations(part, x)).sum());
  torch::tanh(alone->forward(torch::tanh(alone->forward(x)))).sum().backward();
  CHECK(differing(gradients(*module), gradients(*alone), 1e-6).empty());
}

TEST_CASE("random numbers after a checkpointed part are those without") {
  const auto draws = [](bool recompute) {
    torch::manual_seed(5);
    const auto part = [](const torch::Tensor& x) { return torch::dropout(x, 0.5, true); };
    const auto x = torch::ones({64}, torch::requires_grad());
    const auto y = recompute ? checkpoint_activations(part, x) : part(x);
    const auto before = torch::rand({2});
    y.sum().backward();
    return std::vector{y.detach(), x.grad(), before, torch::rand({2})};
  };
  CHECK(differing(draws(true), draws(false)).empty());
}

TEST_CASE("parts with several tensors, none of which may be missing") {
  const auto part = [](const torch::Tensor& a, const torch::Tensor& b) {
    return std::vector<torch::Tensor>{a * b, torch::argmax(a), a + 1};
  };
  const auto run = [&](bool recompute) {
    const auto a = torch::arange(4.0).requires_grad_();
    const auto b = torch::full({4}, 3.0);
    const auto outputs = recompute ? checkpoint_activations(part, a, b) : part(a, b);
    CHECK_FALSE(outputs[1].requires_grad());
    outputs[0].sum().backward();  // None comes for the third.
    return std::vector{a.grad(), outputs[0].detach(), outputs[1], outputs[2].detach()};
  };
  CHECK(differing(run(true), run(false)).empty());
  CHECK_THROWS_MATCHES(checkpoint_activations(part, torch::ones({2}), torch::Tensor()),
                       muster::ModelError, MessageMatches(ContainsSubstring("undefined")));
  const torch::NoGradGuard no_grad;
  CHECK_FALSE(
      checkpoint_activations(part, torch::ones({2}, torch::requires_grad()), torch::ones({2}))[0]
          .requires_grad());
}

TEST_CASE("a checkpointed part keeps no activations, and is called once more") {
  int calls = 0;
  std::vector<c10::weak_intrusive_ptr<c10::TensorImpl>> inner;
  const auto part = [&](const torch::Tensor& x) {
    ++calls;
    const auto middle = torch::exp(x);
    inner.emplace_back(middle.getIntrusivePtr());
    return torch::exp(middle);
  };
  const auto y = checkpoint_activations(part, torch::zeros({4}, torch::requires_grad()));
  CHECK(inner[0].expired());
  y.sum().backward();
  CHECK(calls == 2);
}

TEST_CASE("a model prepared for evaluation has rank 0's weights and trains nothing") {
  Accelerator accelerator;
  torch::manual_seed(static_cast<std::uint64_t>(accelerator.process_index()));
  auto teacher_module = std::make_shared<Normed>();
  auto student_module = std::make_shared<Normed>();
  auto teacher = accelerator.prepare_model(teacher_module, {.evaluation_mode = true});
  auto [student, optimizer] =
      accelerator.prepare(student_module, torch::optim::SGD(student_module->parameters(), 0.1));
  const auto weights = copies(teacher_module->parameters());
  for (const auto& tensor : weights) {
    CHECK(torch::equal(accelerator.broadcast(tensor.clone()), tensor));
  }
  teacher->eval();
  const auto x = rows_of(accelerator.process_index(), {8});
  for (int step = 0; step < 3; ++step) {
    // Its own gradients are nobody's.
    accelerator.backward((student(x) - teacher(x)).square().mean());
    optimizer.step();
    optimizer.zero_grad();
  }
  CHECK(optimizer.steps() == 3);
  CHECK(differing(teacher_module->parameters(), weights).empty());
  CHECK(accelerator.prepare(teacher_module) == teacher);
  CHECK_THROWS_MATCHES(accelerator.prepare(torch::optim::SGD(teacher_module->parameters(), 0.1)),
                       muster::ModelError, MessageMatches(ContainsSubstring("evaluation mode")));
  CHECK_THROWS_AS(accelerator.clip_grad_norm(teacher, 1), muster::ModelError);
}
