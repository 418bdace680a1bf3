#include "metrics/shared.hpp"

#include <ATen/ops/argmax.h>
#include <ATen/ops/empty.h>

namespace muster::metrics {

at::Tensor real_values(const Ranks& ranks, const at::Tensor& values) {
  return ranks.real_rows(values).detach().to(at::kCPU, at::kDouble).reshape(-1).contiguous();
}

void add_all(CompensatedSum& sum, const at::Tensor& doubles) {
  const auto* values = doubles.const_data_ptr<double>();
  for (std::int64_t i = 0; i < doubles.numel(); ++i) sum.add(values[i]);
}

std::vector<double> sums_of_ranks(const Ranks& ranks, std::initializer_list<CompensatedSum> sums) {
  const auto count = static_cast<std::int64_t>(sums.size());
  auto mine = at::empty({1, count, 2}, at::kDouble);
  auto* next = mine.mutable_data_ptr<double>();
  for (const auto& sum : sums) {
    *next++ = sum.sum();
    *next++ = sum.error();
  }
  const auto all = ranks.gather(mine.to(ranks.device())).cpu();
  std::vector<CompensatedSum> totals(sums.size());
  const auto* values = all.const_data_ptr<double>();
  for (int rank = 0; rank < ranks.num_processes(); ++rank) {
    for (auto& total : totals) {
      total.add(*values++);
      total.add(*values++);
    }
  }
  std::vector<double> results;
  for (const auto& total : totals) results.push_back(total.value());
  return results;
}

at::Tensor classes_of(const at::Tensor& scores) {
  const auto here = scores.detach().cpu();
  return (here.dim() == 2 ? here.argmax(1) : here).to(at::kLong).contiguous();
}

}  // namespace muster::metrics
