#include <muster/loop_state.hpp>

#include <algorithm>

namespace muster {

void LoopState::enter(const void* loader) { active_.push_back({loader, false, -1, -1}); }

void LoopState::update(const void* loader, bool last, std::int64_t real_samples,
                       std::int64_t samples) {
  const auto found = std::find_if(active_.rbegin(), active_.rend(),
                                  [&](const Active& active) { return active.loader == loader; });
  if (found == active_.rend()) return;
  found->last = last;
  found->real_samples = real_samples;
  found->samples = samples;
  ++batches_;
}

void LoopState::leave(const void* loader) noexcept {
  const auto found = std::find_if(active_.rbegin(), active_.rend(),
                                  [&](const Active& active) { return active.loader == loader; });
  if (found != active_.rend()) active_.erase(std::next(found).base());
}

bool LoopState::end_of_loader() const noexcept { return in_loader() && active_.back().last; }

std::int64_t LoopState::real_samples() const noexcept {
  return in_loader() ? active_.back().real_samples : -1;
}

std::int64_t LoopState::samples() const noexcept {
  return in_loader() ? active_.back().samples : -1;
}

}  // namespace muster
