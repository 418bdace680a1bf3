// all_to_all of equal and unequal parts.

#include "check/checks.hpp"
#include "check/lists.hpp"

#include <ATen/ops/cat.h>
#include <ATen/ops/zeros.h>

namespace muster::check {
namespace {

using Counts = std::vector<std::int64_t>;

/// How much each rank gets from rank `from`; the same there and back.
Counts counts_of(int from, int size, std::int64_t unit, bool equal) {
  Counts counts;
  for (int to = 0; to < size; ++to) counts.push_back(equal ? unit : unit * ((from + to) % 3));
  return counts;
}

void exchange(Bench& bench, at::ScalarType dtype, std::int64_t unit, bool equal) {
  auto& group = bench.group();
  const auto own = counts_of(group.rank(), group.size(), unit, equal);
  std::vector<at::Tensor> incoming;
  for (int peer = 0; peer < group.size(); ++peer) {
    const auto sent = counts_of(peer, group.size(), unit, equal);
    incoming.push_back(bench.numbers()
                           .of(peer, sum_of(sent), dtype)
                           .narrow(0, sum_before(sent, group.rank()), at_rank(sent, group.rank())));
  }
  const auto expected = at::cat(incoming);
  const auto output = at::zeros({expected.numel()}, dtype).to(group.device());
  const auto input = bench.numbers().of(group.rank(), sum_of(own), dtype).to(group.device());
  const auto counts = equal ? Counts() : own;
  group.all_to_all(output, input, counts, counts, "check").wait();
  bench.expect_same(equal ? "equal parts" : "unequal parts", expected, output);
}

}  // namespace

void check_all_to_all(Bench& bench) {
  const int size = bench.group().size();
  const auto dtypes = dtypes_here(bench, {at::kFloat, at::kBFloat16, at::kLong});
  for (const auto numel : lengths) {
    for (const auto dtype : dtypes) {
      for (const bool equal : {true, false}) exchange(bench, dtype, numel / size, equal);
    }
  }
  bench.looked_at("equal, unequal parts; " + count_text(dtypes));
}

}  // namespace muster::check
