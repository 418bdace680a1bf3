#include <muster/data_loader.hpp>

#include <catch2/catch_test_macros.hpp>
#include <torch/data.h>

namespace muster::test {
namespace {

namespace datasets = torch::data::datasets;
namespace transforms = torch::data::transforms;

/// As torch's MNIST, but in memory.
class Images : public datasets::Dataset<Images> {
 public:
  torch::data::Example<> get(size_t index) override {
    return {torch::full({1, 2, 2}, static_cast<float>(index)),
            torch::tensor(static_cast<int64_t>(index))};
  }
  std::optional<size_t> size() const override { return 10; }
};

}  // namespace

TEST_CASE("torch's mapped data sets give their batches") {
  DataLoader loader(Images().map(transforms::Normalize<>(1.0, 2.0)).map(transforms::Stack<>()),
                    {.batch_size = 4});
  std::int64_t seen = 0;
  for (torch::data::Example<>& batch : loader) {
    const std::int64_t samples = batch.target.size(0);
    CHECK((batch.data.sizes() == at::IntArrayRef{samples, 1, 2, 2}));
    CHECK(torch::allclose(batch.data[0][0][0][0], (batch.target[0] - 1.0) / 2.0));
    seen += samples;
  }
  CHECK(seen == 10);
}

TEST_CASE("torch's data sets without a Stack transform are stacked") {
  auto loader = DataLoader(Images(), {.batch_size = 4, .num_workers = 2})
                    .sharded(1, 2, nullptr, at::kCPU, 42);
  auto iterator = loader.begin();
  torch::data::Example<>& batch = *iterator;
  CHECK(torch::equal(batch.target, torch::arange(4, 8)));
  CHECK((batch.data.sizes() == at::IntArrayRef{4, 1, 2, 2}));
}

TEST_CASE("torch's tensor data set has no target") {
  DataLoader loader(datasets::TensorDataset(torch::arange(6)), {.batch_size = 6});
  for (torch::data::TensorExample& batch : loader) {
    CHECK(torch::equal(batch.data, torch::arange(6)));
  }
}

}  // namespace muster::test
