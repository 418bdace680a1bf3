// An evaluation counts every sample once, also where the last round of batches was completed; and
// what ranks reduce, pad and share fits.

#include <muster/accelerator.hpp>
#include <muster/data_loader.hpp>

#include "check/checks.hpp"
#include "check/numbered_data.hpp"

#include <ATen/ops/full.h>

#include <string>

namespace muster::check {
namespace {

void count_samples(Bench& bench, Accelerator& accelerator, const DataLoaderOptions& options) {
  auto loader = accelerator.prepare(DataLoader<NumberedData>(NumberedData{}, options));
  std::vector<std::int64_t> gathered;
  for (const auto& batch : loader) append(gathered, accelerator.gather_for_metrics(batch));
  DataLoader<NumberedData> alone(
      NumberedData{}, {.batch_size = 8, .shuffle = options.shuffle, .seed = options.seed});
  std::vector<std::int64_t> expected;
  for (const auto& batch : alone) append(expected, batch);
  const std::string where = "gather_for_metrics, batches of " + std::to_string(options.batch_size);
  bench.expect(gathered.size() == expected.size(), where,
               std::to_string(expected.size()) + " samples",
               std::to_string(gathered.size()) + " samples");
  bench.expect_same(where, NumberedData::get_batch(expected), NumberedData::get_batch(gathered));
}

void reduce_and_pad(Bench& bench, const Accelerator& accelerator) {
  const int rank = accelerator.process_index(), size = accelerator.num_processes();
  const auto device = accelerator.device();
  const auto own = at::full({3}, rank + 1, at::kFloat).to(device);
  const double sum = size * (size + 1) / 2.0;
  bench.expect_same("reduce sum", at::full({3}, sum, at::kFloat), accelerator.reduce(own));
  bench.expect_same("reduce mean", at::full({3}, sum / size, at::kFloat),
                    accelerator.reduce(own, "mean"), at::full({3}, 1e-5, at::kDouble));
  const auto padded = accelerator.pad_across_processes(own.narrow(0, 0, rank % 2 + 1), 0, -1);
  auto expected = at::full({size > 1 ? 2 : 1}, -1, at::kFloat);
  expected.narrow(0, 0, rank % 2 + 1).fill_(rank + 1);
  bench.expect_same("pad_across_processes", expected, padded);
}

}  // namespace

void check_metrics(Bench& bench) {
  Accelerator accelerator(bench.options());
  count_samples(bench, accelerator, {.batch_size = 8});
  count_samples(bench, accelerator, {.batch_size = 13, .shuffle = true, .seed = 3});
  count_samples(bench, accelerator, {.batch_size = NumberedData::samples});
  reduce_and_pad(bench, accelerator);
  bench.looked_at("every sample counts once; reduce, pad");
}

}  // namespace muster::check
