#pragma once

#include "flat_model.hpp"

#include <cstddef>
#include <vector>

namespace muster {

/// How often each parameter gets a gradient in a backward (a module used twice under checkpointing:
/// twice), and so when a bucket is complete. The first window is only watched.
class Arrivals {
 public:
  explicit Arrivals(const FlatModel& model);

  /// A closing micro-step begins.
  void begin();
  void arrived(std::size_t slot);
  /// All of a bucket's parameters came as often as they are used to. False until learn() was
  /// called.
  bool complete(std::size_t bucket) const { return known_ && missing_[bucket] == 0; }
  /// The backward is over: what came is what will be expected, at least.
  void learn();

 private:
  const FlatModel& model_;
  bool known_ = false;
  std::vector<int> expected_, seen_;  ///< Per slot.
  std::vector<int> missing_;  ///< Per bucket: slots that have not come as often as expected.
};

}  // namespace muster
