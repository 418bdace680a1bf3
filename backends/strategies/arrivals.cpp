#include "arrivals.hpp"

#include <algorithm>

namespace muster {

Arrivals::Arrivals(const FlatModel& model)
    : model_(model),
      expected_(model.slots().size()),
      seen_(model.slots().size()),
      missing_(model.buckets().size()) {}

void Arrivals::begin() {
  std::ranges::fill(seen_, 0);
  std::ranges::fill(missing_, 0);
  for (std::size_t slot = 0; slot < expected_.size(); ++slot) {
    if (expected_[slot] > 0) ++missing_[model_.slots()[slot].bucket];
  }
}

void Arrivals::arrived(std::size_t slot) {
  if (++seen_[slot] == expected_[slot]) --missing_[model_.slots()[slot].bucket];
}

void Arrivals::learn() {
  for (std::size_t slot = 0; slot < expected_.size(); ++slot) {
    expected_[slot] = std::max(expected_[slot], seen_[slot]);
  }
  known_ = true;
}

}  // namespace muster
