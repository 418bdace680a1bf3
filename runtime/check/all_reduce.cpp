// all_reduce in place, into a wider dtype, with every reduction, and as a mean.

#include "check/checks.hpp"
#include "check/lists.hpp"

#include <ATen/ops/zeros.h>

#include <string>

namespace muster::check {
namespace {

constexpr ReduceOp operations[] = {ReduceOp::sum, ReduceOp::product, ReduceOp::min, ReduceOp::max};

bool is_exact(const Communicator& group, ReduceOp op) {
  return group.capabilities().ordered_sums || op == ReduceOp::min || op == ReduceOp::max;
}

/// How far a sum may be off; undefined: not at all.
at::Tensor bound_of(const Communicator& group, const std::vector<at::Tensor>& all, ReduceOp op) {
  if (is_exact(group, op) || !all.front().is_floating_point()) return {};
  return rounding_bound(all, all.front().scalar_type());
}

/// Products of all ranks' values leave every dtype's range where there are many ranks.
std::int64_t longest(ReduceOp op) { return op == ReduceOp::sum ? lengths.back() : 1000; }

void in_place(Bench& bench, at::ScalarType dtype, ReduceOp op, std::int64_t numel) {
  auto& group = bench.group();
  const auto all = bench.numbers().of_all(group.size(), numel, dtype);
  const auto tensor = at_rank(all, group.rank()).clone().to(group.device());
  group.all_reduce(tensor, op, "check").wait();
  bench.expect_same(std::string(to_string(op)), reduced(all, op, dtype), tensor,
                    bound_of(group, all, op));
}

void widening(Bench& bench, at::ScalarType narrow) {
  auto& group = bench.group();
  for (const auto numel : lengths) {
    const auto all = bench.numbers().of_all(group.size(), numel, narrow);
    const auto output = at::zeros({numel}, at::kFloat).to(group.device());
    const auto input = at_rank(all, group.rank()).to(group.device());
    group.all_reduce(output, input, ReduceOp::sum, "check").wait();
    bench.expect_same("sum into float32", reduced(all, ReduceOp::sum, at::kFloat), output,
                      bound_of(group, all, ReduceOp::sum));
  }
}

/// The first part is divided by the sum of counts 1, 2, ..., the rest stays a sum.
void mean(Bench& bench, std::int64_t numel) {
  auto& group = bench.group();
  const auto divided = numel / 3;
  const auto all = bench.numbers().of_all(group.size(), numel, at::kFloat);
  const double count = group.size() * (group.size() + 1) / 2.0;
  const auto expected = reduced(all, ReduceOp::sum, at::kFloat);
  device_kind(at::kCPU).kernels().scale(expected.narrow(0, 0, divided), 1 / count);
  const auto tensor = at_rank(all, group.rank()).clone().to(group.device());
  group.all_reduce_mean(tensor, divided, group.rank() + 1, "check").wait();
  bench.expect_same("mean", expected, tensor, bound_of(group, all, ReduceOp::sum));
}

}  // namespace

void check_all_reduce(Bench& bench) {
  const auto dtypes = sum_dtypes(bench);
  for (const auto dtype : dtypes) {
    for (const auto op : operations) {
      for (const auto numel : lengths) {
        if (numel <= longest(op)) in_place(bench, dtype, op, numel);
      }
    }
  }
  for (const auto narrow : dtypes_here(bench, {at::kHalf, at::kBFloat16})) widening(bench, narrow);
  for (const auto numel : lengths) mean(bench, numel);
  const bool exact = bench.group().capabilities().ordered_sums;
  bench.looked_at("sum, product, min, max, mean; " + count_text(dtypes) + (exact ? "; exact" : ""));
}

}  // namespace muster::check
