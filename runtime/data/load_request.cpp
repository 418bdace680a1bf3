#include <muster/load_request.hpp>

#include "data/load_stopped.hpp"

#include <ATen/CPUGeneratorImpl.h>

#include <mutex>

namespace muster {
namespace {

/// Spreads every bit of `value` over the result (the finaliser of SplitMix64).
std::uint64_t mixed(std::uint64_t value) noexcept {
  value += 0x9e3779b97f4a7c15U;
  value = (value ^ (value >> 30U)) * 0xbf58476d1ce4e5b9U;
  value = (value ^ (value >> 27U)) * 0x94d049bb133111ebU;
  return value ^ (value >> 31U);
}

}  // namespace

void LoadRequest::enter(std::int64_t index) {
  current_ = index;
  if (stop_.stop_requested()) throw LoadStopped();
}

at::Generator& LoadRequest::generator(std::int64_t index) {
  const std::uint64_t epoch_seed =
      mixed(mixed(static_cast<std::uint64_t>(seed_)) + static_cast<std::uint64_t>(epoch_));
  const std::uint64_t seed = mixed(epoch_seed + static_cast<std::uint64_t>(index));
  // A generator that the data set kept is left to it.
  if (!generator_.defined() || generator_.getIntrusivePtr().use_count() > 1) {
    generator_ = at::detail::createCPUGenerator(seed);
  } else {
    const std::lock_guard lock(generator_.mutex());
    generator_.set_current_seed(seed);
  }
  return generator_;
}

}  // namespace muster
