// reduce_scatter into equal and unequal parts, and on top of what is there.

#include "check/checks.hpp"
#include "check/lists.hpp"

#include <ATen/ops/zeros.h>

namespace muster::check {
namespace {

using Counts = std::vector<std::int64_t>;

at::Tensor bound_of(const Communicator& group, const std::vector<at::Tensor>& all) {
  const bool exact = group.capabilities().ordered_sums || !all.front().is_floating_point();
  return exact ? at::Tensor() : rounding_bound(all, all.front().scalar_type());
}

void parts(Bench& bench, at::ScalarType dtype, const Counts& counts, bool equal) {
  auto& group = bench.group();
  const auto all = bench.numbers().of_all(group.size(), sum_of(counts), dtype);
  const auto begin = sum_before(counts, group.rank());
  const auto own = at_rank(counts, group.rank());
  const auto output = at::zeros({own}, dtype).to(group.device());
  const auto input = at_rank(all, group.rank()).to(group.device());
  const auto told = equal ? Counts() : counts;
  group.reduce_scatter(output, input, {.counts = told}, "check").wait();
  const auto bound = bound_of(group, all);
  bench.expect_same(equal ? "equal parts" : "unequal parts",
                    reduced(all, ReduceOp::sum, dtype).narrow(0, begin, own), output,
                    bound.defined() ? bound.narrow(0, begin, own) : bound);
}

void accumulated(Bench& bench, std::int64_t each) {
  auto& group = bench.group();
  const auto all = bench.numbers().of_all(group.size(), each * group.size(), at::kBFloat16);
  std::vector<at::Tensor> in_order{bench.numbers().of(group.size(), each, at::kFloat)};
  const auto output = in_order.front().clone().to(group.device());
  for (const auto& rank : all) {
    in_order.push_back(rank.narrow(0, each * group.rank(), each).to(at::kFloat));
  }
  const auto input = at_rank(all, group.rank()).to(group.device());
  group.reduce_scatter(output, input, {.accumulate = true}, "check").wait();
  bench.expect_same("bfloat16 added to float32", reduced(in_order, ReduceOp::sum, at::kFloat),
                    output, bound_of(group, in_order));
}

}  // namespace

void check_reduce_scatter(Bench& bench) {
  const int size = bench.group().size();
  const auto dtypes = dtypes_here(bench, {at::kFloat, at::kBFloat16, at::kDouble, at::kLong});
  for (const auto unit : lengths) {
    for (const auto dtype : dtypes) {
      parts(bench, dtype, Counts(static_cast<std::size_t>(size), unit / size), true);
      parts(bench, dtype, uneven_counts(size, unit / size), false);
    }
    accumulated(bench, unit / size);
  }
  bench.looked_at("equal, unequal, onto a sum; " + count_text(dtypes));
}

}  // namespace muster::check
