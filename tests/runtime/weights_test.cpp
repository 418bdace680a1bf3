// One process: what load_model takes.

#include <muster/accelerator.hpp>
#include <muster/error.hpp>
#include <muster/safetensors.hpp>

#include "checkpoint/temporary_folder.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <torch/torch.h>

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using muster::Accelerator;
using muster::NamedTensor;
using muster::test::TemporaryFolder;

namespace {

struct TiedNet : torch::nn::Module {
  TiedNet() {
    head = register_parameter("head", torch::randn({4, 4}));
    register_parameter("table", head);
    count = register_buffer("count", torch::zeros({2}, torch::kLong));
  }
  torch::Tensor head, count;
};

}  // namespace

TEST_CASE("a tied weight is found in a file under any of its names") {
  const TemporaryFolder folder;
  Accelerator accelerator;
  auto module = std::make_shared<TiedNet>();
  const auto model = accelerator.prepare(module);
  for (const std::string name : {"head", "table"}) {
    const auto path = folder / (name + ".safetensors");
    const auto value = torch::randn({4, 4});
    const std::vector<NamedTensor> tensors{{name, value}, {"count", torch::tensor({3, 4})}};
    muster::save_safetensors(path, tensors);
    accelerator.load_model(model, path);
    CHECK(torch::equal(module->head, value));
    CHECK(torch::equal(module->count, torch::tensor({3, 4})));
  }
}

TEST_CASE("numbers are converted to the model's dtype, unless that would lose their kind") {
  const TemporaryFolder folder;
  Accelerator accelerator;
  auto module = std::make_shared<TiedNet>();
  const auto model = accelerator.prepare(module);
  const auto path = folder / "weights.safetensors";
  const auto load = [&](const torch::Tensor& head, const torch::Tensor& count) {
    muster::save_safetensors(path, std::vector<NamedTensor>{{"head", head}, {"count", count}});
    accelerator.load_model(model, path);
  };
  const auto value = torch::randn({4, 4}, torch::kDouble);
  load(value, torch::tensor({1, 2}, torch::kInt));
  CHECK(torch::equal(module->head, value.to(torch::kFloat)));
  CHECK(torch::equal(module->count, torch::tensor({1, 2})));

  const auto kept = module->head.detach().clone();
  CHECK_THROWS_MATCHES(
      load(torch::randn({4, 4}, torch::kComplexFloat), torch::tensor({5, 6})),
      muster::CheckpointError,
      MessageMatches(ContainsSubstring("head (complex64 in the file, float32 in the model)")));
  CHECK_THROWS_MATCHES(
      load(value, torch::tensor({5.5, 6.5}, torch::kFloat)), muster::CheckpointError,
      MessageMatches(ContainsSubstring("count (float32 in the file, int64 in the model)")));
  CHECK(torch::equal(module->head, kept));
  CHECK(torch::equal(module->count, torch::tensor({1, 2})));
}
