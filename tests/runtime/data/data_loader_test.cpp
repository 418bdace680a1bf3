#include <muster/data_loader.hpp>
#include <muster/error.hpp>

#include "list_dataset.hpp"

#include <ATen/Functions.h>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

namespace muster::test {

using Catch::Matchers::ContainsSubstring;
using Lists = std::vector<std::vector<std::int64_t>>;

TEST_CASE("a loader works unprepared, as a world of one") {
  DataLoader loader(IdDataset{7}, {.batch_size = 3});
  CHECK(loader.size() == 3);
  CHECK(loader.total_batch_size() == 3);
  CHECK(epoch_of(loader) == Lists{{0, 1, 2}, {3, 4, 5}, {6}});
}

TEST_CASE("the epoch is part of the order and counts itself") {
  DataLoader loader(IdDataset{50}, {.batch_size = 50, .shuffle = true});
  CHECK(loader.epoch() == 0);
  const Lists first = epoch_of(loader);
  CHECK(loader.epoch() == 0);
  const Lists second = epoch_of(loader);
  CHECK(loader.epoch() == 1);
  CHECK(first != second);

  loader.set_epoch(1);
  CHECK(loader.epoch() == 1);
  (void)at::rand({100});  // Other random numbers change nothing.
  CHECK(epoch_of(loader) == second);
  loader.set_epoch(0);
  CHECK(epoch_of(loader) == first);
  CHECK(epoch_of(loader) == second);
  CHECK_THROWS_AS(loader.set_epoch(-1), ConfigError);

  DataLoader fresh(IdDataset{50}, {.batch_size = 50, .shuffle = true});
  CHECK(epoch_of(fresh) == first);
  DataLoader other(IdDataset{50}, {.batch_size = 50, .shuffle = true, .seed = 43});
  CHECK(epoch_of(other) != first);
}

TEST_CASE("an epoch that was left early counts, and copies share the count") {
  DataLoader loader(IdDataset{9}, {.batch_size = 3});
  for (auto& batch : loader) {
    (void)batch;
    break;
  }
  auto copy = loader;
  for (auto& batch : copy) (void)batch;
  CHECK(loader.epoch() == 1);
  loader.set_epoch(7);
  CHECK(copy.epoch() == 7);
}

TEST_CASE("sharded loaders read the rank's part and can be sharded again") {
  DataLoader loader(IdDataset{9}, {.batch_size = 2});
  const auto part = loader.sharded(1, 2, nullptr, at::kCPU, 42);
  auto twice = part.sharded(1, 2, nullptr, at::kCPU, 42);
  CHECK(twice.size() == 3);
  CHECK(twice.total_batch_size() == 4);
  CHECK(epoch_of(twice) == Lists{{2, 3}, {6, 7}, {1, 2}});
  CHECK(epoch_of(loader) == Lists{{0, 1}, {2, 3}, {4, 5}, {6, 7}, {8}});
}

TEST_CASE("a batch that cannot be split over the ranks is refused when it is prepared") {
  DataLoader loader(IdDataset{9}, {.batch_size = 8, .split_batches = true});
  CHECK_THROWS_AS(loader.sharded(0, 3, nullptr, at::kCPU, 42), ConfigError);
  CHECK_THROWS_WITH(loader.sharded(0, 3, nullptr, at::kCPU, 42),
                    ContainsSubstring("8") && ContainsSubstring("3 ranks"));
  CHECK_THROWS_AS(loader.sharded(2, 2, nullptr, at::kCPU, 42), ConfigError);
}

TEST_CASE("the seed is the loader's, else the job's") {
  const DataLoaderOptions options{.batch_size = 20, .shuffle = true};
  DataLoader loader(IdDataset{20}, options);
  auto seeded = DataLoader(IdDataset{20}, options).sharded(0, 1, nullptr, at::kCPU, 5);
  const Lists plain = epoch_of(loader);
  CHECK(epoch_of(seeded) != plain);
  DataLoader own(IdDataset{20}, {.batch_size = 20, .shuffle = true, .seed = 42});
  auto prepared = own.sharded(0, 1, nullptr, at::kCPU, 5);
  CHECK(epoch_of(prepared) == plain);
}

TEST_CASE("the loop state follows the loop") {
  const auto loop = std::make_shared<LoopState>();
  auto loader = DataLoader(IdDataset{9}, {.batch_size = 2}).sharded(0, 2, loop, at::kCPU, 42);
  std::vector<bool> ends;
  std::vector<std::int64_t> real;
  for (auto& batch : loader) {
    (void)batch;
    ends.push_back(loop->end_of_loader());
    real.push_back(loop->real_samples());
  }
  CHECK(ends == std::vector<bool>{false, false, true});
  CHECK(real == std::vector<std::int64_t>{-1, -1, 1});
  CHECK_FALSE(loop->in_loader());
}

TEST_CASE("the loop state is left by break, by an exception and by an empty epoch") {
  const auto loop = std::make_shared<LoopState>();
  auto loader = DataLoader(IdDataset{9}, {.batch_size = 2}).sharded(0, 1, loop, at::kCPU, 42);
  for (auto& batch : loader) {
    (void)batch;
    break;
  }
  CHECK_FALSE(loop->in_loader());
  const auto failing_body = [&] {
    for (auto& batch : loader) throw std::runtime_error(std::to_string(batch.numel()));
  };
  CHECK_THROWS_AS(failing_body(), std::runtime_error);
  CHECK_FALSE(loop->in_loader());
  auto empty = DataLoader(IdDataset{0}, {.batch_size = 2}).sharded(0, 1, loop, at::kCPU, 42);
  int batches = 0;
  for (auto& batch : empty) batches += static_cast<int>(batch.numel());
  CHECK(batches == 0);
  CHECK(empty.epoch() == 0);
  CHECK_FALSE(loop->in_loader());
}

TEST_CASE("a loop inside a loop, also over the same loader") {
  const auto loop = std::make_shared<LoopState>();
  auto train = DataLoader(IdDataset{4}, {.batch_size = 2}).sharded(0, 1, loop, at::kCPU, 42);
  Lists seen;
  for (auto& outer : train) {
    const bool last = loop->end_of_loader();
    for (auto& inner : train) {
      seen.push_back(ids_of(inner));
      CHECK(loop->end_of_loader() == (seen.back().front() == 2));
    }
    CHECK(loop->end_of_loader() == last);
    seen.push_back(ids_of(outer));
  }
  CHECK(seen == Lists{{0, 1}, {2, 3}, {0, 1}, {0, 1}, {2, 3}, {2, 3}});
  CHECK_FALSE(loop->in_loader());
}

TEST_CASE("skipped batches are left out once, in the right epoch, and are not read") {
  const auto reads = std::make_shared<std::vector<std::int64_t>>();
  DataLoader loader(IdDataset{10, reads}, {.batch_size = 2, .shuffle = true});
  Lists reference = epoch_of(loader);
  const Lists second = epoch_of(loader);
  reads->clear();

  loader.set_epoch(0);
  auto rest = skip_first_batches(loader, 2);
  CHECK(rest.size() == 3);
  reference.erase(reference.begin(), reference.begin() + 2);
  CHECK(epoch_of(rest) == reference);
  CHECK(reads->size() == 6);
  CHECK(rest.size() == 5);
  CHECK(epoch_of(loader) == second);
  loader.set_epoch(1);
  CHECK(epoch_of(rest) == second);
  CHECK_THROWS_AS(skip_first_batches(loader, -1), ConfigError);
}

TEST_CASE("skipping keeps what is known of the last batch") {
  const auto loop = std::make_shared<LoopState>();
  auto loader = DataLoader(IdDataset{9}, {.batch_size = 2}).sharded(1, 2, loop, at::kCPU, 42);
  auto rest = skip_first_batches(loader, 2);
  for (auto& batch : rest) {
    CHECK(ids_of(batch) == std::vector<std::int64_t>{1, 2});
    CHECK(loop->end_of_loader());
    CHECK(loop->real_samples() == 1);
  }
}

TEST_CASE("the loader may go before its loop") {
  auto iterator =
      std::make_unique<DataLoader<IdDataset>>(IdDataset{4}, DataLoaderOptions{})->begin();
  CHECK(ids_of(*iterator) == std::vector<std::int64_t>{0});
  ++iterator;
  CHECK(ids_of(*iterator) == std::vector<std::int64_t>{1});
}

TEST_CASE("a failing data set is named by batch and sample") {
  DataLoader loader(IdDataset{20, nullptr, 17}, {.batch_size = 4});
  CHECK_THROWS_WITH(epoch_of(loader), "data loader, epoch 0, batch 4, sample 17: bad-17");
  auto last =
      DataLoader(IdDataset{20, nullptr, 5}, {.batch_size = 4}).sharded(1, 2, nullptr, at::kCPU, 42);
  CHECK_THROWS_WITH(epoch_of(last), "data loader, rank 1, epoch 0, batch 0, sample 5: bad-5");
}

TEST_CASE("the cause of a failure is nested in it") {
  DataLoader loader(IdDataset{20, nullptr, 0}, {.batch_size = 4});
  try {
    (void)loader.begin();
    FAIL("nothing was thrown");
  } catch (const Error& error) {
    CHECK_THROWS_AS(std::rethrow_if_nested(error), std::out_of_range);
  }
}

}  // namespace muster::test
