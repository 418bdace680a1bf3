#include <muster/data_loader.hpp>
#include <muster/error.hpp>

#include "list_dataset.hpp"

#include <ATen/Functions.h>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <torch/data.h>

#include <algorithm>

namespace muster::test {
namespace {

using Catch::Matchers::ContainsSubstring;
using Ids = std::vector<std::int64_t>;

constexpr std::int64_t all_samples = 23;
constexpr int epochs = 3;

struct Mode {
  const char* name;
  DataLoaderOptions options;
};

BatchSampler pairs() {
  return [](std::int64_t epoch) {
    std::vector<BatchSampler::Batch> batches;
    for (std::int64_t i = 0; i + 1 < all_samples; i += 2) {
      batches.push_back({(i + epoch) % all_samples, (i + 1 + epoch) % all_samples});
    }
    return batches;
  };
}

std::vector<Mode> modes() {
  return {
      {"plain", {.batch_size = 2}},
      {"shuffled", {.batch_size = 2, .shuffle = true}},
      {"with workers", {.batch_size = 2, .shuffle = true, .num_workers = 2, .prefetch = 5}},
      {"uneven", {.batch_size = 2, .shuffle = true, .even_batches = false}},
      {"drop_last", {.batch_size = 2, .shuffle = true, .drop_last = true}},
      {"split", {.batch_size = 4, .shuffle = true, .split_batches = true}},
      {"batch sampler", {.batch_sampler = pairs()}},
  };
}

auto stream() {
  return [](const EpochStart& start) {
    return [epoch = start.epoch, next = std::int64_t{0}]() mutable -> std::optional<at::Tensor> {
      if (next == all_samples) return std::nullopt;
      return at::scalar_tensor(1000 * epoch + next++, at::TensorOptions(at::kLong));
    };
  };
}

/// A program: reads what is left of `epochs` epochs, `most` batches at most.
template <class Loader>
Ids read_on(Loader& loader, int most = 1'000'000) {
  Ids ids;
  for (std::int64_t epoch = loader.state().epoch; epoch < epochs; ++epoch) {
    loader.set_epoch(epoch);
    for (auto& batch : loader) {
      const auto batch_ids = ids_of(batch);
      ids.insert(ids.end(), batch_ids.begin(), batch_ids.end());
      if (--most == 0) return ids;
    }
  }
  return ids;
}

/// Interrupts after each number of batches, and goes on in a loader of its own.
template <class Make>
void check_resume(Make make) {
  auto whole = make();
  const Ids reference = read_on(whole);
  for (int after = 0;; ++after) {
    CAPTURE(after);
    auto first = make();
    LoaderState state = first.state();
    Ids ids;
    if (after > 0) {
      ids = read_on(first, after);
      state = LoaderState::from_text(first.state().to_text());
    }
    const bool done = ids.size() == reference.size();
    auto second = make();
    second.load_state(state);
    const Ids rest = read_on(second);
    ids.insert(ids.end(), rest.begin(), rest.end());
    REQUIRE(ids == reference);
    if (done) break;
  }
}

/// What all ranks read, from one state on to the end of its epoch, each sample once.
template <class Make>
Ids read_by(int ranks, const LoaderState& state, Make make) {
  Ids ids;
  for (int rank = 0; rank < ranks; ++rank) {
    auto loader = make().sharded(rank, ranks, nullptr, at::kCPU, 42);
    loader.load_state(state);
    for (auto& batch : loader) {
      const auto own = ids_of(batch);
      ids.insert(ids.end(), own.begin(), own.end());
    }
  }
  std::sort(ids.begin(), ids.end());
  return ids;
}

}  // namespace

TEST_CASE("a loader goes on exactly where another stopped, wherever that was") {
  for (const Mode& mode : modes()) {
    for (const int ranks : {1, 2, 3}) {
      if (mode.options.split_batches && ranks == 3) continue;
      for (int rank = 0; rank < ranks; ++rank) {
        CAPTURE(mode.name, ranks, rank);
        check_resume([&] {
          return DataLoader(IdDataset{all_samples}, mode.options)
              .sharded(rank, ranks, nullptr, at::kCPU, 42);
        });
      }
    }
  }
}

TEST_CASE("so does a loader of a stream") {
  for (const int workers : {0, 2}) {
    for (int rank = 0; rank < 2; ++rank) {
      CAPTURE(workers, rank);
      check_resume([&] {
        return DataLoader(stream(), {.batch_size = 3, .num_workers = workers})
            .sharded(rank, 2, nullptr, at::kCPU, 42);
      });
    }
  }
}

TEST_CASE("a state goes on over another number of ranks and another batch size") {
  const DataLoaderOptions options{.batch_size = 2, .shuffle = true, .even_batches = false};
  auto loader = DataLoader(IdDataset{all_samples}, options).sharded(0, 2, nullptr, at::kCPU, 42);
  int batches = 0;
  for (auto& batch : loader) {
    (void)batch;
    if (++batches == 3) break;
  }
  const LoaderState state = loader.state();
  CHECK(state.position == 12);
  DataLoader whole(IdDataset{all_samples}, {.batch_size = all_samples, .shuffle = true});
  auto order = epoch_of(whole).front();
  Ids rest(order.begin() + 12, order.end());
  std::sort(rest.begin(), rest.end());
  for (const int ranks : {1, 2, 3, 4}) {
    for (const std::int64_t batch_size : {1, 2, 5}) {
      CAPTURE(ranks, batch_size);
      auto other = options;
      other.batch_size = batch_size;
      CHECK(read_by(ranks, state, [&] { return DataLoader(IdDataset{all_samples}, other); }) ==
            rest);
    }
  }
}

TEST_CASE("a state is a short text, and one of another order is refused") {
  DataLoader loader(IdDataset{all_samples}, {.batch_size = 2, .shuffle = true});
  auto iterator = loader.begin();
  CHECK(loader.state().to_text() == "epoch=0 position=2 seed=42 samples=23 shuffle=1");
  const LoaderState state = loader.state();
  DataLoader other_seed(IdDataset{all_samples}, {.batch_size = 2, .shuffle = true, .seed = 7});
  CHECK_THROWS_WITH(other_seed.load_state(state),
                    ContainsSubstring("seed=42") && ContainsSubstring("seed=7"));
  DataLoader longer(IdDataset{all_samples + 1}, {.batch_size = 2, .shuffle = true});
  CHECK_THROWS_AS(longer.load_state(state), ConfigError);
  DataLoader plain(IdDataset{all_samples}, {.batch_size = 2});
  CHECK_THROWS_AS(plain.load_state(state), ConfigError);
  for (const char* text : {"", "epoch=1", "epoch=x position=2 seed=42 samples=23 shuffle=1",
                           "epoch=0 position=2 seed=42 samples=23 shuffle=1 more"}) {
    CAPTURE(text);
    CHECK_THROWS_AS(LoaderState::from_text(text), ConfigError);
  }
}

TEST_CASE("a state knows how much is left, and set_epoch of another epoch drops it") {
  DataLoader loader(IdDataset{10}, {.batch_size = 2});
  loader.load_state({.epoch = 4, .position = 6, .samples = 10});
  CHECK(loader.size() == 2);
  CHECK(loader.epoch() == 4);
  auto skipping = skip_first_batches(loader, 1);
  CHECK(skipping.size() == 1);
  loader.set_epoch(4);
  CHECK(loader.size() == 2);
  loader.set_epoch(5);
  CHECK(loader.size() == 5);
}

TEST_CASE("torch's samplers give the order, equal on all ranks and new each epoch") {
  namespace samplers = torch::data::samplers;
  torch::manual_seed(1);
  DataLoader first(IdDataset{10}, {.batch_size = 10, .sampler = samplers::RandomSampler(10)});
  torch::manual_seed(2);
  DataLoader second(IdDataset{10}, {.batch_size = 10, .sampler = samplers::RandomSampler(10)});
  const auto order = epoch_of(first);
  CHECK(order == epoch_of(second));
  auto sorted = order.front();
  std::sort(sorted.begin(), sorted.end());
  CHECK((sorted == Ids{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
  torch::manual_seed(1);
  const auto before = torch::rand({1});
  torch::manual_seed(1);
  CHECK(order != epoch_of(first));
  CHECK(torch::rand({1}).equal(before));  // Nothing was drawn from the program's numbers.

  DataLoader plain(IdDataset{4}, {.batch_size = 3, .sampler = samplers::SequentialSampler(4)});
  CHECK((epoch_of(plain) == std::vector<Ids>{{0, 1, 2}, {3}}));

  std::vector<Ids> epochs_seen;
  Ids all;
  for (int rank = 0; rank < 2; ++rank) {
    const samplers::DistributedRandomSampler own(10, 2, static_cast<std::size_t>(rank));
    auto loader = DataLoader(IdDataset{10}, {.batch_size = 5, .sampler = own, .sharded = true})
                      .sharded(rank, 2, nullptr, at::kCPU, 42);
    const auto one = epoch_of(loader).front();
    all.insert(all.end(), one.begin(), one.end());
    CHECK(epoch_of(loader).front() != one);  // In LibTorch's loader it is the same.
  }
  std::sort(all.begin(), all.end());
  CHECK((all == Ids{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
}

}  // namespace muster::test
