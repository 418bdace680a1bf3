#pragma once

#include <muster/busy.hpp>
#include <muster/ranks.hpp>

#include <string>
#include <string_view>

namespace muster {

/// What Processes::main_process_first() and local_main_process_first() return: for the block that
/// holds it, the first rank is in the block alone; the others come in when it has left. On the
/// others the making of this blocks, and throws Error if the first rank left by an exception.
class [[nodiscard]] FirstGuard {
 public:
  FirstGuard(const Ranks& ranks, bool of_each_host);
  /// On a first rank: lets the others in, also when an exception passes. If they cannot be told, as
  /// after a lost rank, it says so and goes on.
  ~FirstGuard();
  FirstGuard(const FirstGuard&) = delete;
  FirstGuard& operator=(const FirstGuard&) = delete;

 private:
  bool is_first() const noexcept;
  std::string meet(std::string_view outcome) const;

  Ranks ranks_;
  bool of_each_host_;
  int exceptions_;
  Busy busy_;
};

}  // namespace muster
