#include <muster/accelerator.hpp>

#include "accelerator_state.hpp"

namespace muster {
namespace {

/// For the block that it stands in.
class Joining {
 public:
  Joining(AcceleratorState& state, int steps, std::optional<bool> even_batches)
      : state_(state), before_(state.loop->even_batches) {
    state.join->begin(state.mesh()->group("data"), steps, state.loop);
    if (even_batches) state.loop->even_batches = even_batches;
  }
  ~Joining() {
    state_.join->end();
    state_.loop->even_batches = before_;
  }
  Joining(const Joining&) = delete;
  Joining& operator=(const Joining&) = delete;

 private:
  AcceleratorState& state_;
  std::optional<bool> before_;
};

}  // namespace

void Accelerator::join_uneven_inputs(const std::function<void()>& loop,
                                     std::optional<bool> even_batches) {
  const Joining joining(*state_, gradient_accumulation_steps(), even_batches);
  try {
    loop();
    state_->join->follow();
  } catch (...) {
    state_->join->fail();
    throw;
  }
}

}  // namespace muster
