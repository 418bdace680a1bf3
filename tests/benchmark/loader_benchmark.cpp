#include "loader_benchmark.hpp"

#include <muster/data_loader.hpp>

#include "timing.hpp"

#include <torch/torch.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <stdexcept>
#include <thread>

namespace muster::benchmark {
namespace {

constexpr std::int64_t samples = 60'000, batch_size = 64;

/// Rows of a shuffled epoch, gathered by hand.
class Gather {
 public:
  Gather(torch::Tensor images, torch::Tensor labels, std::int64_t epoch)
      : images_(std::move(images)), labels_(std::move(labels)) {
    const auto generator = at::make_generator<at::CPUGeneratorImpl>(42 + epoch);
    order_ = torch::randperm(samples, generator, torch::kLong);
  }
  std::pair<torch::Tensor, torch::Tensor> next() {
    const auto rows = order_.narrow(0, at_, std::min(batch_size, samples - at_));
    at_ += rows.size(0);
    return {images_.index_select(0, rows), labels_.index_select(0, rows)};
  }
  bool ended() const { return at_ == samples; }

 private:
  torch::Tensor images_, labels_, order_;
  std::int64_t at_ = 0;
};

}  // namespace

void measure_loader(int workers, int epochs) {
  const auto images = torch::randn({samples, 1, 28, 28}), labels = torch::randint(10, {samples});
  DataLoader loader(TensorDataset(images, labels),
                    {.batch_size = batch_size, .shuffle = true, .num_workers = workers});
  Gather same(images, labels, 0);
  for (auto& batch : loader) {
    const auto [data, target] = same.next();
    if (batch.data.equal(data) && batch.target.equal(target)) continue;
    throw std::runtime_error("the loader's batches are not the rows that were asked for");
  }
  double best = 0, by_hand = 0;
  for (int epoch = 1; epoch <= epochs; ++epoch) {
    std::int64_t count = 0;
    const double ms = time_ms([&] {
      for (auto& batch : loader) count += batch.data.size(0);
    });
    best = std::max(best, static_cast<double>(count) / ms * 1e3);
    Gather gather(images, labels, epoch);
    const double hand_ms = time_ms([&] {
      while (!gather.ended()) count -= gather.next().first.size(0);
    });
    by_hand = std::max(by_hand, static_cast<double>(samples) / hand_ms * 1e3);
    if (count != 0) throw std::runtime_error("an epoch had another number of samples");
  }
  std::printf(R"({"samples_a_second": %.0f, "by_hand": %.0f, "workers": %d})"
              "\n",
              best, by_hand, workers);
}

void measure_prefetch(int steps) {
  constexpr auto step = std::chrono::milliseconds(5);
  const auto stream = [=](const EpochStart&) {
    return [=, next = 0]() mutable -> std::optional<torch::Tensor> {
      if (next == steps) return std::nullopt;
      std::this_thread::sleep_for(step);
      return torch::tensor(next++);
    };
  };
  const auto run = [&](int workers) {
    DataLoader loader(stream, {.num_workers = workers});
    return time_ms([&] {
             for (auto& batch : loader) {
               (void)batch;
               std::this_thread::sleep_for(step);
             }
           }) /
           steps;
  };
  std::printf(R"({"ms": %.3f, "without_ms": %.3f, "step_ms": %.3f})"
              "\n",
              run(1), run(0), std::chrono::duration<double, std::milli>(step).count());
}

}  // namespace muster::benchmark
