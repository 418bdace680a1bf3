#include <muster/data_loader.hpp>
#include <muster/torch_loader.hpp>

#include <catch2/catch_test_macros.hpp>
#include <torch/data.h>

#include <algorithm>

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

TEST_CASE("the batches of torch's loaders are dealt to the ranks, in one order on all") {
  for (const size_t workers : {size_t{0}, size_t{2}}) {
    CAPTURE(workers);
    const auto make = [&](auto sampler) {
      return torch::data::make_data_loader(Images().map(transforms::Stack<>()), std::move(sampler),
                                           torch::data::DataLoaderOptions(3).workers(workers));
    };
    std::vector<std::int64_t> epochs[2];
    for (int epoch = 0; epoch < 2; ++epoch) {
      for (int rank = 0; rank < 2; ++rank) {
        torch::manual_seed(static_cast<std::uint64_t>(rank));
        auto loader = make(torch::data::samplers::RandomSampler(10));
        auto part =
            deal_batches(loader, {.even_batches = false}).sharded(rank, 2, nullptr, at::kCPU, 42);
        for (auto& batch : part) {
          (void)batch;
          break;  // Also after a loop that was left.
        }
        part.set_epoch(epoch);
        for (auto& batch : part) {
          const auto* first = batch.target.template const_data_ptr<std::int64_t>();
          epochs[epoch].insert(epochs[epoch].end(), first, first + batch.target.numel());
        }
      }
    }
    CHECK(epochs[0] != epochs[1]);
    for (auto& seen : epochs) {
      std::sort(seen.begin(), seen.end());
      CHECK((seen == std::vector<std::int64_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
    }
  }
}

TEST_CASE("a torch loader is taken by pointer, by value, and of stateful or distributed data") {
  auto owned = deal_batches(torch::data::make_data_loader<torch::data::samplers::SequentialSampler>(
      Images(), torch::data::DataLoaderOptions(4)));
  std::vector<std::int64_t> sizes;
  for (auto& batch : owned) sizes.push_back(batch.target.size(0));
  CHECK((sizes == std::vector<std::int64_t>{4, 4, 2}));

  auto distributed = torch::data::make_data_loader(
      Images().map(transforms::Stack<>()),
      torch::data::samplers::DistributedSequentialSampler(10, 2, 1), 5);
  auto part = deal_batches(distributed).sharded(1, 2, nullptr, at::kCPU, 42);
  CHECK(part.options().sharded);
  for (auto& batch : part) CHECK(torch::equal(batch.target, torch::arange(5, 10)));
}

}  // namespace muster::test
