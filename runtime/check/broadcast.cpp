// broadcast from every rank.

#include "check/checks.hpp"
#include "check/lists.hpp"

#include <algorithm>
#include <string>

namespace muster::check {
namespace {

/// Of a large job some are enough: the first, the last, and some between.
std::vector<int> roots(int size) {
  std::vector<int> chosen;
  const int step = std::max(1, size / 4);
  for (int root = 0; root < size; root += step) chosen.push_back(root);
  if (chosen.back() != size - 1) chosen.push_back(size - 1);
  return chosen;
}

}  // namespace

void check_broadcast(Bench& bench) {
  auto& group = bench.group();
  auto& numbers = bench.numbers();
  const auto dtypes = moved_dtypes(bench);
  for (const int root : roots(group.size())) {
    for (const auto dtype : dtypes) {
      for (const auto numel : lengths) {
        const auto tensor = numbers.of(group.rank(), numel, dtype).to(group.device());
        group.broadcast(tensor, root, "check").wait();
        bench.expect_same("from rank " + std::to_string(root), numbers.of(root, numel, dtype),
                          tensor);
      }
    }
  }
  bench.looked_at("from " + std::to_string(roots(group.size()).size()) + " ranks in turn; " +
                  count_text(dtypes));
}

}  // namespace muster::check
