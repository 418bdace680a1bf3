#pragma once

#include <muster/model.hpp>
#include <muster/ranks.hpp>

#include "accelerator_state.hpp"
#include "prepared_model.hpp"

namespace muster {

/// What is behind handles, for the parts of the runtime that stand beside Accelerator.
struct Internals {
  static AcceleratorState& of(const Ranks& ranks) noexcept { return *ranks.state_; }
  static PreparedModel& of(const ModelHandle& model) noexcept { return *model.prepared_; }
};

}  // namespace muster
