#include <muster/sampler.hpp>

#include "data/mixed.hpp"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/core/Tensor.h>

#include <mutex>

namespace muster {

struct DefaultGeneratorScope::Saved {
  at::Tensor state;
};

DefaultGeneratorScope::DefaultGeneratorScope(std::int64_t seed, std::int64_t epoch)
    : saved_(std::make_unique<Saved>()) {
  auto generator = at::detail::getDefaultCPUGenerator();
  const std::lock_guard lock(generator.mutex());
  saved_->state = generator.get_state();
  generator.set_current_seed(
      mixed(mixed(static_cast<std::uint64_t>(seed)) + static_cast<std::uint64_t>(epoch)));
}

DefaultGeneratorScope::~DefaultGeneratorScope() {
  auto generator = at::detail::getDefaultCPUGenerator();
  const std::lock_guard lock(generator.mutex());
  generator.set_state(saved_->state);
}

}  // namespace muster
