#include <muster/load_request.hpp>

#include "data/load_stopped.hpp"
#include "data/mixed.hpp"

#include <ATen/CPUGeneratorImpl.h>

#include <mutex>

namespace muster {

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
