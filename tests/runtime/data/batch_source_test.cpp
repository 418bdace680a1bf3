#include <muster/data_loader.hpp>
#include <muster/error.hpp>

#include "list_dataset.hpp"

#include <ATen/Functions.h>
#include <ATen/TensorIndexing.h>
#include <ATen/TensorOperators.h>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <span>

namespace muster::test {
namespace {

using Catch::Matchers::ContainsSubstring;

/// Batches are the indices, asked for in one of several types.
template <class Indices>
struct BatchDataset {
  std::int64_t size() const { return 5; }
  std::vector<std::int64_t> asked(Indices indices) const {
    return {indices.begin(), indices.end()};
  }
  at::Tensor get_batch(Indices indices) const { return at::tensor(asked(indices)); }
};

/// Sample i is a random number.
struct NoiseDataset {
  std::int64_t size() const { return 10; }
  at::Tensor get(std::int64_t index, at::Generator generator) const {
    return at::rand({2}, generator) + index;
  }
};

struct MixedDataset {
  std::int64_t size() const { return 3; }
  std::tuple<at::Tensor, std::int64_t, float, std::string, bool> get(std::int64_t index) const {
    return {at::full({2}, index), index, 0.5F * static_cast<float>(index), std::to_string(index),
            index == 1};
  }
};

struct LabelledDataset {
  std::int64_t size() const { return 4; }
  Example<at::Tensor, int> get(int index) const { return {at::full({3}, index), index % 2}; }
};

/// A struct of one's own, whose target comes first.
struct Swapped {
  at::Tensor target, data;
};
struct SwappedDataset {
  std::int64_t size() const { return 4; }
  Swapped get(std::int64_t index) const {
    return {.target = at::full({1}, -index), .data = at::full({2}, index)};
  }
};

struct Weighted {
  at::Tensor data, target, weight;
};
struct Flagged {
  at::Tensor data;
  int target;
  bool flag;
};
struct Identified {
  at::Tensor data;
  std::int64_t id;
};
struct Optional {
  at::Tensor data, target;
  std::optional<at::Tensor> mask;
};
struct Constructed {
  Constructed(at::Tensor second, at::Tensor first) : data(first), target(second) {}
  at::Tensor data, target;
};

struct UnsizedDataset {
  std::optional<std::size_t> size() const { return std::nullopt; }
  at::Tensor get(std::size_t) const { return {}; }
};

template <class Indices>
void check_batches() {
  DataLoader loader(BatchDataset<Indices>{}, {.batch_size = 2});
  CHECK(epoch_of(loader) == std::vector<std::vector<std::int64_t>>{{0, 1}, {2, 3}, {4}});
}

}  // namespace

TEST_CASE("data sets that give batches may take the indices as they like") {
  check_batches<std::vector<std::int64_t>>();
  check_batches<const std::vector<std::size_t>&>();
  check_batches<std::span<const std::int64_t>>();
  check_batches<std::span<const std::size_t>>();
  check_batches<at::ArrayRef<std::int64_t>>();
  check_batches<at::ArrayRef<std::size_t>>();
}

TEST_CASE("random numbers of a sample depend on seed, epoch and index alone") {
  const auto numbers = [](DataLoaderOptions options, int epoch, int index, int count) {
    auto loader =
        DataLoader(NoiseDataset{}, std::move(options)).sharded(index, count, nullptr, at::kCPU, 42);
    loader.set_epoch(epoch);
    std::vector<at::Tensor> batches;
    for (auto& batch : loader) batches.push_back(batch);
    return at::cat(batches);
  };
  const at::Tensor reference = numbers({.batch_size = 10}, 0, 0, 1);
  CHECK(at::equal(numbers({.batch_size = 3}, 0, 0, 1), reference));
  CHECK(at::equal(numbers({.batch_size = 3, .num_workers = 2}, 0, 0, 1), reference));
  CHECK(at::equal(numbers({.batch_size = 5}, 0, 1, 2), reference.narrow(0, 5, 5)));
  CHECK_FALSE(at::equal(numbers({.batch_size = 10}, 1, 0, 1), reference));
  CHECK_FALSE(at::equal(numbers({.batch_size = 10, .seed = 43}, 0, 0, 1), reference));
  const at::Tensor noise = reference - at::arange(10).unsqueeze(1);
  CHECK_FALSE(at::allclose(noise[0], noise[1]));
}

TEST_CASE("examples are collated member by member") {
  DataLoader loader(MixedDataset{}, {.batch_size = 3});
  auto iterator = loader.begin();
  const auto& [tensors, ids, halves, words, flags] = *iterator;
  CHECK((tensors.sizes() == at::IntArrayRef{3, 2}));
  CHECK(at::equal(ids, at::arange(3)));
  CHECK(at::equal(halves, at::tensor({0.0F, 0.5F, 1.0F})));
  CHECK(words == std::vector<std::string>{"0", "1", "2"});
  CHECK(at::equal(flags, at::tensor({0, 1, 0}).to(at::kBool)));
  CHECK(ids.scalar_type() == at::kLong);
  CHECK(halves.scalar_type() == at::kFloat);
}

TEST_CASE("examples of data and target become a batch of data and target") {
  DataLoader loader(std::make_shared<LabelledDataset>(), {.batch_size = 4});
  for (auto& batch : loader) {
    CHECK((batch.data.sizes() == at::IntArrayRef{4, 3}));
    CHECK(at::equal(batch.target, at::tensor({0, 1, 0, 1}, at::kLong)));
  }
  CHECK(loader.dataset().size() == 4);
}

TEST_CASE("data and target stay what they are, in any order; a third member is never lost") {
  DataLoader loader(SwappedDataset{}, {.batch_size = 4});
  for (Swapped& batch : loader) {
    CHECK(at::equal(batch.data, at::arange(4).unsqueeze(1).expand({4, 2})));
    CHECK(at::equal(batch.target, -at::arange(4).unsqueeze(1)));
  }
  STATIC_CHECK((ExampleLike<Example<>> && ExampleLike<Swapped>));
  STATIC_CHECK_FALSE((ExampleLike<Weighted> || ExampleLike<Flagged> || ExampleLike<Identified>));
  STATIC_CHECK_FALSE((ExampleLike<Optional> || ExampleLike<Constructed>));
}

TEST_CASE("a collate function makes any batch") {
  const auto sum = [](const std::vector<at::Tensor>& examples) {
    std::int64_t total = 0;
    for (const at::Tensor& example : examples) total += example.item<std::int64_t>();
    return total;
  };
  DataLoader loader(IdDataset{6}, {.batch_size = 3}, sum);
  std::vector<std::int64_t> sums;
  for (auto& batch : loader) sums.push_back(batch);
  CHECK(sums == std::vector<std::int64_t>{3, 12});
}

TEST_CASE("tensors are a data set") {
  const at::Tensor data = at::arange(24).reshape({6, 2, 2}).transpose(1, 2);
  const at::Tensor target = at::arange(6);
  const TensorDataset dataset(data, target);
  CHECK(at::equal(dataset.get(2).data, data[2]));
  DataLoader loader(dataset, {.batch_size = 4, .shuffle = true});
  for (auto& batch : loader) {
    CHECK(at::equal(batch.data, data.index({batch.target})));
    batch.data.zero_();  // A batch is a copy.
  }
  CHECK(at::equal(data, at::arange(24).reshape({6, 2, 2}).transpose(1, 2)));
  CHECK_THROWS_WITH(TensorDataset(data, at::arange(5)),
                    ContainsSubstring("[6, 2, 2]") && ContainsSubstring("[5]"));
  CHECK_THROWS_AS(TensorDataset(at::Tensor(), target), ConfigError);
  CHECK_THROWS_AS(TensorDataset(at::scalar_tensor(1), at::scalar_tensor(1)), ConfigError);
}

TEST_CASE("a data set without a size is refused") {
  DataLoader loader(UnsizedDataset{});
  CHECK_THROWS_AS(loader.size(), ConfigError);
}

TEST_CASE("examples that cannot be stacked are named by their batch") {
  struct Ragged {
    std::int64_t size() const { return 4; }
    at::Tensor get(std::int64_t index) const { return at::zeros({index}); }
  };
  DataLoader loader(Ragged{}, {.batch_size = 2});
  CHECK_THROWS_WITH(loader.begin(), ContainsSubstring("epoch 0, batch 0") &&
                                        ContainsSubstring("equal size") &&
                                        !ContainsSubstring("frame #"));
}

}  // namespace muster::test
