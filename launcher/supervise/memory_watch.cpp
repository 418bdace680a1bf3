#include "memory_watch.hpp"

#include "text.hpp"

#include <utility>

namespace muster::launcher {

MemoryWatch::MemoryWatch(Sysroot root)
    : root_(std::move(root)),
      cgroups_(root_),
      on_host_(!cgroups_.memory_kills()),
      before_(count()) {}

std::optional<std::uint64_t> MemoryWatch::count() const {
  if (!on_host_) return cgroups_.memory_kills();
  return counter(root_.read("/proc/vmstat").value_or(""), "oom_kill");
}

std::optional<MemoryKills> MemoryWatch::kills() const {
  const auto now = count();
  if (!before_ || !now || *now <= *before_) return std::nullopt;
  MemoryKills kills;
  kills.count = *now - *before_;
  kills.on_host = on_host_;
  if (const auto limit = cgroups_.memory_limit()) {
    kills.limit = limit->value;
    kills.group = limit->group;
    kills.peak = cgroups_.memory_peak();
  }
  return kills;
}

bool MemoryWatch::claim_kill() {
  const auto all = kills();
  if (!all || all->count <= claimed_) return false;
  ++claimed_;
  return true;
}

}  // namespace muster::launcher
