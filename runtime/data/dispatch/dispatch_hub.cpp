#include "data/dispatch/dispatch_hub.hpp"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

namespace muster {
namespace {

constexpr std::chrono::milliseconds parting_limit{2000};

}  // namespace

DispatchHub::~DispatchHub() {
  for (const auto& run : runs_) run->leave();
  const auto end = std::chrono::steady_clock::now() + parting_limit;
  while (!finished() && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  if (!finished()) {
    group_->abort("this rank has ended its Accelerator while others still read dispatched batches");
  }
}

void DispatchHub::keep(std::shared_ptr<DispatchRun> run) {
  const std::lock_guard lock(mutex_);
  std::erase_if(runs_, [](const auto& kept) { return kept->finished(); });
  runs_.push_back(std::move(run));
}

bool DispatchHub::finished() {
  const std::lock_guard lock(mutex_);
  return std::ranges::all_of(runs_, [](const auto& run) { return run->finished(); });
}

}  // namespace muster
