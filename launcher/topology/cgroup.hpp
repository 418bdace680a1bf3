#pragma once

#include "topology/sysroot.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster::launcher {

/// The control groups this process is in, version 1, 2 or both. Where they are mounted is read from
/// /proc/self/mountinfo, so containers with a namespace of their own and hybrid set-ups are seen
/// right.
class Cgroups {
 public:
  explicit Cgroups(const Sysroot& root);

  /// A limit and the group that sets it, as people know it ("/kubepods/pod1").
  template <class T>
  struct Limit {
    T value{};
    std::string group;
  };

  /// CPUs' worth of time: the smallest quota on the way to the root; nothing if there is none.
  std::optional<Limit<double>> cpu_quota() const;
  /// The CPUs the cpuset allows; nothing without a cpuset.
  std::optional<Limit<std::vector<int>>> cpuset() const;
  /// Bytes: the smallest limit on the way to the root; nothing if there is none.
  std::optional<Limit<std::uint64_t>> memory_limit() const;

  /// Processes of our group that the kernel has killed for lack of memory (version 2: with those of
  /// the groups below); nothing where it does not count them.
  std::optional<std::uint64_t> memory_kills() const;
  /// Bytes: the most that the group of memory_limit() has used; nothing where that is not kept.
  std::optional<std::uint64_t> memory_peak() const;

  /// "v1", "v2", "v1 and v2" or "none".
  std::string_view version() const;

 private:
  /// One hierarchy: our folder in it, and the folder where it is mounted.
  struct Hierarchy {
    int version = 0;
    std::vector<std::string> controllers;  // Version 1: those of this mount.
    std::string mount;
    std::string below;  // Our group, from the mount: "" or "/a/b".
  };
  std::vector<const Hierarchy*> with_controller(std::string_view controller) const;
  /// Folders from our group up to the mount, as (path, group).
  static std::vector<std::pair<std::string, std::string>> path_to_root(const Hierarchy& hierarchy);

  const Sysroot& root_;
  std::vector<Hierarchy> hierarchies_;
};

}  // namespace muster::launcher
