// all_gather of equal and unequal parts.

#include "check/checks.hpp"
#include "check/lists.hpp"

#include <ATen/ops/cat.h>
#include <ATen/ops/zeros.h>

namespace muster::check {
namespace {

using Counts = std::vector<std::int64_t>;

void parts(Bench& bench, at::ScalarType dtype, const Counts& counts, bool equal) {
  auto& group = bench.group();
  std::vector<at::Tensor> all;
  for (int rank = 0; rank < group.size(); ++rank) {
    all.push_back(bench.numbers().of(rank, at_rank(counts, rank), dtype));
  }
  const auto expected = at::cat(all);
  const auto output = at::zeros({expected.numel()}, dtype).to(group.device());
  const auto input = at_rank(all, group.rank()).to(group.device());
  group.all_gather(output, input, equal ? Counts() : counts, "check").wait();
  bench.expect_same(equal ? "equal parts" : "unequal parts", expected, output);
}

}  // namespace

void check_all_gather(Bench& bench) {
  const int size = bench.group().size();
  const auto dtypes = moved_dtypes(bench);
  for (const auto unit : lengths) {
    for (const auto dtype : dtypes) {
      parts(bench, dtype, Counts(static_cast<std::size_t>(size), unit / size), true);
      parts(bench, dtype, uneven_counts(size, unit / size), false);
    }
  }
  bench.looked_at("equal, unequal parts; " + count_text(dtypes));
}

}  // namespace muster::check
