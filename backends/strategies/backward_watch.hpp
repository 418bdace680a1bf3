#pragma once

#include <memory>
#include <set>

namespace muster {

/// Tells backwards that ended from those that an exception cut short.
class BackwardWatch {
 public:
  BackwardWatch();

  /// From a hook inside a backward.
  void running();
  /// A backward was seen running, ended with an exception, and was not forgotten. Asked between
  /// backwards.
  bool broken() const noexcept { return !running_->empty(); }
  void forget() noexcept { running_->clear(); }

 private:
  std::shared_ptr<std::set<int>>
      running_;  ///< Numbers of the engine's tasks; shared with its callbacks.
};

}  // namespace muster
