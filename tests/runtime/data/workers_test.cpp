#include <muster/data_loader.hpp>
#include <muster/error.hpp>

#include "list_dataset.hpp"

#include <ATen/Functions.h>
#include <ATen/Parallel.h>
#include <c10/core/GradMode.h>
#include <c10/core/InferenceMode.h>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <atomic>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <pthread.h>
#include <thread>
#include <unistd.h>

namespace muster::test {
namespace {

using Catch::Matchers::ContainsSubstring;
using namespace std::chrono_literals;

std::ptrdiff_t entries(const char* folder) {
  return std::distance(std::filesystem::directory_iterator(folder), {});
}

std::int64_t resident_bytes() {
  std::int64_t all = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> all >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

/// Counts the samples that were read; sample i takes longer the smaller i % 8 is, so that batches
/// overtake.
struct CountingDataset {
  std::int64_t samples;
  std::shared_ptr<std::atomic<int>> reads = std::make_shared<std::atomic<int>>(0);

  std::int64_t size() const { return samples; }
  at::Tensor get(std::int64_t index) const {
    ++*reads;
    std::this_thread::sleep_for(std::chrono::microseconds(50 * (8 - index % 8)));
    return at::scalar_tensor(index, at::TensorOptions(at::kLong));
  }
};

/// What a worker finds around it.
struct Surroundings {
  bool gradients, inference, blocked, fault_blocked;
  int threads;
};
struct ProbeDataset {
  std::int64_t size() const { return 2; }
  Surroundings get_batch(const std::vector<std::int64_t>&) const {
    sigset_t mask;
    pthread_sigmask(SIG_BLOCK, nullptr, &mask);
    return {c10::GradMode::is_enabled(), c10::InferenceMode::is_enabled(),
            sigismember(&mask, SIGTERM) == 1, sigismember(&mask, SIGSEGV) == 1,
            at::get_num_threads()};
  }
};

}  // namespace

TEST_CASE("workers keep the order, whatever their number and how far they run ahead") {
  for (const int workers : {1, 2, 4}) {
    for (const int prefetch : {0, 1, 3, 50}) {
      CAPTURE(workers, prefetch);
      DataLoader plain(CountingDataset{61}, {.batch_size = 3, .shuffle = true});
      DataLoader loader(
          CountingDataset{61},
          {.batch_size = 3, .shuffle = true, .num_workers = workers, .prefetch = prefetch});
      CHECK(epoch_of(loader) == epoch_of(plain));
      CHECK(epoch_of(loader) == epoch_of(plain));
    }
  }
}

TEST_CASE("workers run no further ahead than prefetch") {
  CountingDataset dataset{100};
  const auto reads = dataset.reads;
  DataLoader loader(dataset, {.batch_size = 2, .num_workers = 2, .prefetch = 3});
  int taken = 0;
  for (auto& batch : loader) {
    (void)batch;
    ++taken;
    std::this_thread::sleep_for(5ms);
    CHECK(reads->load() <= 2 * (taken + 3));
    if (taken == 5) break;
  }
}

TEST_CASE("what a data set throws in a worker comes out of the loop, in its turn") {
  for (const int workers : {0, 1, 2}) {
    CAPTURE(workers);
    auto loader = DataLoader(IdDataset{20, nullptr, 17}, {.batch_size = 2, .num_workers = workers})
                      .sharded(0, 2, nullptr, at::kCPU, 42);
    std::vector<std::int64_t> seen;
    const auto run = [&] {
      for (auto& batch : loader) seen.push_back(ids_of(batch).front());
    };
    CHECK_THROWS_WITH(run(), "data loader, rank 0, epoch 0, batch 4, sample 17: bad-17");
    CHECK((seen == std::vector<std::int64_t>{0, 4, 8, 12}));
  }
}

TEST_CASE("what a batch sampler throws comes out of the loop after the batches before it") {
  std::vector<BatchSampler::Batch> batches;
  for (std::int64_t i = 0; i < 8; ++i) batches.push_back({i});
  batches[5] = {20};
  for (const int workers : {0, 1, 2, 8}) {
    CAPTURE(workers);
    DataLoader loader(IdDataset{20}, {.num_workers = workers, .batch_sampler = batches});
    std::vector<std::int64_t> seen;
    const auto run = [&] {
      for (auto& batch : loader) seen.push_back(ids_of(batch).front());
    };
    CHECK_THROWS_WITH(run(), ContainsSubstring("batch 5 of the batch_sampler has index 20"));
    CHECK((seen == std::vector<std::int64_t>{0, 1, 2, 3, 4}));
  }
}

TEST_CASE("leaving early ends the workers, a hundred times") {
  const auto threads = entries("/proc/self/task");
  const auto descriptors = entries("/proc/self/fd");
  for (int i = 0; i < 100; ++i) {
    DataLoader loader(CountingDataset{1000}, {.batch_size = 1, .num_workers = 4, .prefetch = 8});
    for (auto& batch : loader) {
      (void)batch;
      break;
    }
  }
  CHECK(entries("/proc/self/task") == threads);
  CHECK(entries("/proc/self/fd") == descriptors);
}

TEST_CASE("leaving early does not wait for the rest of a batch") {
  const CountingDataset dataset{100'000};
  LoaderCore core({.batch_size = 50'000, .num_workers = 1});
  Loading loading;
  loading.samples = dataset.samples;
  loading.load = [&](LoadRequest& request) {
    for (const std::int64_t index : request.indices()) {
      request.enter(index);
      (void)dataset.get(index);
    }
    return std::shared_ptr<void>();
  };
  auto run = core.start(loading);
  while (*dataset.reads == 0) std::this_thread::sleep_for(1ms);
  run.reset();
  CHECK(*dataset.reads < 50'000);
}

TEST_CASE("batches are loaded with gradients off and outside inference mode, in any thread") {
  const int threads = at::get_num_threads();
  const c10::InferenceMode inference;
  for (const int workers : {0, 1}) {
    CAPTURE(workers);
    DataLoader loader(ProbeDataset{}, {.num_workers = workers});
    for (auto& found : loader) {
      CHECK_FALSE(found.gradients);
      CHECK_FALSE(found.inference);
      CHECK(found.blocked == (workers > 0));
      CHECK_FALSE(found.fault_blocked);
      CHECK(found.threads == (workers > 0 ? 1 : threads));
    }
  }
  CHECK(c10::InferenceMode::is_enabled());
  CHECK(at::get_num_threads() == threads);
}

TEST_CASE("a worker that waits uses no processor time") {
  DataLoader loader(IdDataset{100}, {.num_workers = 4});
  const auto iterator = loader.begin();
  std::this_thread::sleep_for(20ms);
  const std::clock_t before = std::clock();
  std::this_thread::sleep_for(100ms);
  CHECK(std::clock() - before < CLOCKS_PER_SEC / 20);
}

TEST_CASE("a thousand steps keep their memory, and a loader that goes leaves nothing behind") {
  const auto threads = entries("/proc/self/task");
  const auto descriptors = entries("/proc/self/fd");
  {
    const at::Tensor data = at::rand({6400, 784}), target = at::zeros({6400});
    DataLoader loader(TensorDataset(data, target),
                      {.batch_size = 64, .shuffle = true, .num_workers = 2});
    std::int64_t steps = 0, after_20 = 0;
    while (steps < 1000) {
      for (auto& batch : loader) {
        CHECK(batch.data.size(0) == 64);
        if (++steps == 20) after_20 = resident_bytes();
      }
    }
    // A batch is 200 kB: to keep one in twenty would show.
    CHECK(resident_bytes() - after_20 < 10'000'000);
  }
  CHECK(entries("/proc/self/task") == threads);
  CHECK(entries("/proc/self/fd") == descriptors);
}

TEST_CASE("a reader is ahead of a step that takes long") {
  CountingDataset dataset{100};
  const auto reads = dataset.reads;
  DataLoader loader(dataset, {.batch_size = 2, .num_workers = 1, .prefetch = 3});
  auto iterator = loader.begin();
  for (int i = 0; i < 6000 && *reads < 2 * 4; ++i) std::this_thread::sleep_for(5ms);
  CHECK(*reads == 2 * 4);  // What was given out, and all that there is room for.
}

}  // namespace muster::test
