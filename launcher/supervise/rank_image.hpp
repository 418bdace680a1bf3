#pragma once

#include "plan.hpp"

#include <array>
#include <string>
#include <utility>
#include <vector>

namespace muster::launcher {

/// The descriptors of a rank, as numbers of the process that forks it. -1: the rank has none.
struct RankDescriptors {
  std::array<int, 3> standard{-1, -1, -1};
  int control = -1;
  int memory = -1;
  int master = -1;
};

/// Everything that a rank's process needs between fork and exec, made before, because nothing may
/// be allocated there. Borrows this process's environment.
class RankImage {
 public:
  /// The descriptors that a rank sees after 0, 1 and 2.
  static constexpr int control_fd = 3;
  static constexpr int memory_fd = 4;
  static constexpr int master_fd = 5;

  RankImage(const ProcessSpec& spec, std::string path, const RankDescriptors& descriptors);

  /// Its place among the ranks of this host.
  int rank() const noexcept { return rank_; }
  const char* path() const noexcept { return path_.c_str(); }
  char* const* argv() const noexcept { return argv_.data(); }
  /// For /bin/sh, which runs a script without a #! line.
  char* const* shell_argv() const noexcept { return shell_argv_.data(); }
  char* const* envp() const noexcept { return envp_.data(); }
  const RankDescriptors& descriptors() const noexcept { return descriptors_; }

  /// A set of bits as the kernel takes it; empty: the rank stays as it is.
  using Bits = std::vector<unsigned long>;
  /// The CPUs that it runs on.
  const Bits& cpus() const noexcept { return cpus_; }
  /// The NUMA node that its memory comes from first.
  const Bits& memory_node() const noexcept { return memory_node_; }
  /// Whether a person asked for these two.
  bool bind_asked() const noexcept { return bind_asked_; }

 private:
  void build_environment(const ProcessSpec& spec);

  int rank_;
  std::string path_;
  std::vector<std::string> arguments_;
  std::vector<std::string> variables_;
  std::vector<char*> argv_, shell_argv_, envp_;
  RankDescriptors descriptors_;
  Bits cpus_, memory_node_;
  bool bind_asked_;
};

/// A variable as the rank will see it; empty if it will not.
std::string variable_of(const ProcessSpec& spec, const std::string& name);

}  // namespace muster::launcher
