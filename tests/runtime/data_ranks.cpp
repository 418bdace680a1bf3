// Run by `muster launch -n N`: every rank runs every case, in the same order.

#include <muster/accelerator.hpp>
#include <muster/data_loader.hpp>
#include <muster/error.hpp>

#include "counting_communicator.hpp"
#include "data/dispatch/dispatch_hub.hpp"
#include "data/list_dataset.hpp"
#include "session.hpp"

#include <ATen/Functions.h>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <thread>

namespace muster::test {
namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using Ids = std::vector<std::int64_t>;

Ids first_integers(std::int64_t count) {
  Ids all;
  for (std::int64_t i = 0; i < count; ++i) all.push_back(i);
  return all;
}

auto id_stream(std::int64_t samples, std::int64_t bad = -1) {
  return [samples, bad](const EpochStart&) {
    return [samples, bad, next = std::int64_t{0}]() mutable -> std::optional<at::Tensor> {
      if (next == bad) throw std::out_of_range("bad-" + std::to_string(bad));
      if (next == samples) return std::nullopt;
      return at::scalar_tensor(next++, at::TensorOptions(at::kLong));
    };
  };
}

/// What gather_for_metrics returns over an epoch.
template <class Loader>
Ids gathered(const Accelerator& accelerator, Loader& loader) {
  Ids all;
  for (auto& batch : loader) {
    const auto ids = ids_of(accelerator.gather_for_metrics(batch));
    all.insert(all.end(), ids.begin(), ids.end());
  }
  return all;
}

/// Threads that read or send data, once they had time to end.
int data_threads() {
  const auto count = [] {
    int threads = 0;
    for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
      std::string name;
      std::ifstream(task.path() / "comm") >> name;
      if (name == "muster-data") ++threads;
    }
    return threads;
  };
  for (int i = 0; i < 2000 && count() > 0; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return count();
}

/// Sample i has i % 3 + 1 rows; its batches have one of them.
struct RaggedDataset {
  using Batch = std::tuple<at::Tensor, std::int64_t, std::string, std::vector<at::Tensor>,
                           std::map<std::string, at::Tensor>, std::optional<double>>;
  std::int64_t size() const { return 12; }
  Batch get_batch(const std::vector<std::int64_t>& indices) const {
    const std::int64_t i = indices.front();
    return {at::full({i % 3 + 1, 2}, i, at::TensorOptions(at::kHalf)),
            i,
            "sample " + std::to_string(i),
            {at::arange(i, at::TensorOptions(at::kInt)), at::Tensor()},
            {{"a", at::zeros({0, 3})}, {"b", at::full({}, i)}},
            i % 2 == 0 ? std::optional(0.5) : std::nullopt};
  }
};

struct Unknown {
  at::Tensor a, b;
};
struct UnknownDataset {
  std::int64_t size() const { return 4; }
  Unknown get_batch(const std::vector<std::int64_t>&) const { return {}; }
};

}  // namespace

TEST_CASE("every sample is gathered once, in every mode, also after a skip") {
  Accelerator accelerator;
  const int ranks = accelerator.num_processes();
  for (const std::int64_t samples : {0, 1, 2, 7, 9, 33, 64}) {
    for (const std::int64_t batch : {1, 4, 16}) {
      for (const bool dispatch : {false, true}) {
        CAPTURE(samples, batch, dispatch);
        const DataLoaderOptions options{.batch_size = batch, .dispatch = dispatch};
        auto [indexed, stream] = accelerator.prepare(DataLoader(IdDataset{samples}, options),
                                                     DataLoader(id_stream(samples), options));
        CHECK(gathered(accelerator, indexed) == first_integers(samples));
        CHECK(gathered(accelerator, stream) == first_integers(samples));
        auto left = first_integers(samples);
        left.erase(left.begin(), left.begin() + std::min<std::int64_t>(samples, batch * ranks));
        auto skipped = accelerator.skip_first_batches(indexed, 1);
        auto skipped_stream = accelerator.skip_first_batches(stream, 1);
        CHECK(gathered(accelerator, skipped) == left);
        CHECK(gathered(accelerator, skipped_stream) == left);
      }
    }
  }
}

TEST_CASE("drop_last with dispatch leaves whole rounds exactly") {
  Accelerator accelerator;
  for (const std::int64_t samples : {5, 97, 99, 128}) {
    auto loader = accelerator.prepare(
        DataLoader(IdDataset{samples}, {.batch_size = 4, .drop_last = true, .dispatch = true}));
    const std::int64_t round = 4 * accelerator.num_processes();
    CHECK(gathered(accelerator, loader) == first_integers(samples / round * round));
  }
}

TEST_CASE("rank 0 alone reads, in the order of the epoch, with workers too") {
  Accelerator accelerator;
  const auto reads = std::make_shared<Ids>();
  for (const int workers : {0, 1, 3}) {
    const bool counts = workers < 2;  // The list of reads is for one thread.
    auto loader = accelerator.prepare(
        DataLoader(IdDataset{50, counts ? reads : nullptr},
                   {.batch_size = 2, .shuffle = true, .num_workers = workers, .dispatch = true}));
    auto order = DataLoader(IdDataset{50}, {.batch_size = 50, .shuffle = true});
    for (int epoch = 0; epoch < 2; ++epoch) {
      CAPTURE(workers, epoch);
      CHECK(gathered(accelerator, loader) == epoch_of(order).front());
      CHECK(loader.epoch() == epoch);
    }
  }
  if (!accelerator.is_main_process()) CHECK(reads->empty());
}

TEST_CASE("batches of any known structure and of several lengths are dispatched") {
  Accelerator accelerator;
  auto loader =
      accelerator.prepare(DataLoader(RaggedDataset(), {.batch_size = 1, .dispatch = true}));
  std::int64_t i = accelerator.process_index();
  for (auto& [tensor, number, text, list, map, maybe] : loader) {
    CHECK(number == i);
    CHECK(text == "sample " + std::to_string(i));
    CHECK(tensor.scalar_type() == at::kHalf);
    CHECK(tensor.equal(at::full({i % 3 + 1, 2}, i, at::TensorOptions(at::kHalf))));
    REQUIRE(list.size() == 2);
    CHECK(list[0].equal(at::arange(i, at::TensorOptions(at::kInt))));
    CHECK_FALSE(list[1].defined());
    CHECK(map.at("a").sizes() == at::IntArrayRef{0, 3});
    CHECK(map.at("b").item<double>() == static_cast<double>(i));
    CHECK(maybe.has_value() == (i % 2 == 0));
    tensor.fill_(0);  // It is the rank's own memory.
    i += accelerator.num_processes();
  }
  CHECK(i == 12 + accelerator.process_index());
}

TEST_CASE("a batch of a type that cannot be sent is refused by name on all ranks") {
  Accelerator accelerator;
  if (accelerator.num_processes() == 1) return;
  auto loader = accelerator.prepare(DataLoader(UnknownDataset(), {.dispatch = true}));
  CHECK_THROWS_WITH(loader.begin(), ContainsSubstring("Unknown"));
}

TEST_CASE("what rank 0's data set throws reaches all ranks, after the batches before it") {
  Accelerator accelerator;
  for (const int workers : {0, 2}) {
    for (const bool stream : {false, true}) {
      CAPTURE(workers, stream);
      const DataLoaderOptions options{.batch_size = 2, .num_workers = workers, .dispatch = true};
      auto [indexed, items] = accelerator.prepare(DataLoader(IdDataset{40, nullptr, 17}, options),
                                                  DataLoader(id_stream(40, 17), options));
      std::int64_t batches = 0;
      const auto run = [&](auto& loader) {
        for (auto& batch : loader) batches += batch.size(0) > 0 ? 1 : 0;
      };
      const auto read = [&] { stream ? run(items) : run(indexed); };
      CHECK_THROWS_MATCHES(read(), Error,
                           MessageMatches(ContainsSubstring("epoch 0, batch") &&
                                          ContainsSubstring("sample 17: bad-17")));
      const std::int64_t round = 2 * accelerator.num_processes();
      const std::int64_t before = 17 / round;
      CHECK(batches >= before);
      CHECK(batches <= before + 1);
    }
  }
  // The ranks can go on.
  auto loader = accelerator.prepare(DataLoader(IdDataset{9}, {.dispatch = true}));
  CHECK(gathered(accelerator, loader) == first_integers(9));
}

TEST_CASE("a dispatched loop may be left at any time, by each rank at another") {
  Accelerator accelerator;
  const int rank = accelerator.process_index(), ranks = accelerator.num_processes();
  auto loader = accelerator.prepare(DataLoader(IdDataset{60}, {.batch_size = 2, .dispatch = true}));
  CHECK(gathered(accelerator, loader) == first_integers(60));
  for (int trial = 0; trial < 12; ++trial) {
    const int leave_after = trial < 4 ? trial + 1 : 1 + (trial + 3 * rank) % (30 / ranks);
    int taken = 0;
    for (auto& batch : loader) {
      const std::int64_t first = 2 * (taken * ranks + rank);
      CHECK(ids_of(batch).front() == first);
      if (++taken == leave_after) break;
    }
  }
  CHECK(gathered(accelerator, loader) == first_integers(60));
  for (auto& batch : loader) {  // Inside its own loop, too.
    CHECK(gathered(accelerator, loader) == first_integers(60));
    CHECK(ids_of(batch).front() == 2 * rank);
    break;
  }
  accelerator.wait_for_everyone();
  CHECK(data_threads() == 0);
}

TEST_CASE("ranks that begin different epochs of a dispatched loader are told") {
  Accelerator accelerator;
  if (accelerator.num_processes() == 1) return;
  auto loader = accelerator.prepare(DataLoader(IdDataset{60}, {.dispatch = true}));
  loader.set_epoch(accelerator.process_index() == 1 ? 3 : 2);
  const auto run = [&] {
    for (auto& batch : loader) {
      (void)batch;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  };
  CHECK_THROWS_MATCHES(run(), Error,
                       MessageMatches(ContainsSubstring("rank 1 begins epoch 3") &&
                                      ContainsSubstring("rank 0 begins epoch 2")));
  accelerator.wait_for_everyone();
}

TEST_CASE("each rank gets its slice and no more") {
  Accelerator accelerator;
  const int ranks = accelerator.num_processes();
  if (ranks == 1) return;
  const auto session = Session::join(World::from_environment(current_environment()), "auto", false);
  auto& world = session->mesh()->world();
  auto counting = std::make_unique<CountingCommunicator>(world.split(0, world.rank()));
  const auto sent = counting->sent();
  const auto hub = std::make_shared<DispatchHub>(std::move(counting));
  const auto loop = std::make_shared<LoopState>();
  loop->dispatch_hub = [hub] { return hub; };

  constexpr std::int64_t samples = 240, width = 1000;
  const TensorDataset data(at::rand({samples, width}), at::zeros({samples}));
  auto loader = DataLoader(data, {.batch_size = 10, .dispatch = true})
                    .sharded(world.rank(), ranks, loop, at::kCPU, 42);
  for (auto& batch : loader) CHECK(batch.data.size(0) == 10);
  accelerator.wait_for_everyone();
  // Broadcasting would send everything to every other rank: `ranks` times as much.
  const double whole = samples * (width + 1) * 4;
  const double broadcast = whole * (ranks - 1);
  const auto all = accelerator.reduce(at::scalar_tensor(static_cast<double>(sent->load())));
  const double ratio = all.item<double>() / (broadcast / ranks);
  CAPTURE(ratio);
  CHECK(ratio >= 1);
  CHECK(ratio < 1.05);
}

TEST_CASE("rank 0 reads ahead while the ranks compute") {
  Accelerator accelerator;
  const auto reads = std::make_shared<std::atomic<int>>(0);
  const auto stream = [reads](const EpochStart&) {
    return [reads, next = std::int64_t{0}]() mutable -> std::optional<at::Tensor> {
      if (next == 100) return std::nullopt;
      ++*reads;
      return at::scalar_tensor(next++, at::TensorOptions(at::kLong));
    };
  };
  auto loader =
      accelerator.prepare(DataLoader(stream, {.batch_size = 1, .prefetch = 4, .dispatch = true}));
  for (auto& batch : loader) {
    (void)batch;
    if (!accelerator.is_main_process()) break;
    // A step that takes long: meanwhile the next rounds are read.
    const int expected = 4 * accelerator.num_processes();
    for (int i = 0; i < 6000 && *reads < expected; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    CHECK(*reads >= expected);
    break;
  }
  accelerator.wait_for_everyone();
}

TEST_CASE("a dispatched loader goes on exactly from a state") {
  Accelerator accelerator;
  const DataLoaderOptions options{
      .batch_size = 3, .shuffle = true, .num_workers = 2, .dispatch = true};
  auto whole = accelerator.prepare(DataLoader(IdDataset{41}, options));
  const Ids reference = gathered(accelerator, whole);
  for (int after = 1; after < 5; ++after) {
    auto first = accelerator.prepare(DataLoader(IdDataset{41}, options));
    Ids all;
    int batches = 0;
    for (auto& batch : first) {
      const auto ids = ids_of(accelerator.gather_for_metrics(batch));
      all.insert(all.end(), ids.begin(), ids.end());
      if (++batches == after) break;
    }
    auto second = accelerator.prepare(DataLoader(IdDataset{41}, options));
    second.load_state(LoaderState::from_text(first.state().to_text()));
    if (second.state().epoch == 0) {
      const Ids rest = gathered(accelerator, second);
      all.insert(all.end(), rest.begin(), rest.end());
    }
    CHECK(all == reference);
  }
}

}  // namespace muster::test
