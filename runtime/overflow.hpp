#pragma once

#include "prepared_optimizer.hpp"

#include <exception>

namespace muster {

/// The scale after a due step whose gradients were finite, or not, or that a rank had left. Between
/// the strategies' before_step() and after_step(), on all ranks. Returns the NonFiniteError if
/// there were too many in a row.
std::exception_ptr move_scale(PreparedOptimizer& prepared, bool finite);

/// Ranks look which of their own gradients are not finite before those are summed, where the next
/// such step is one too many.
void prepare_for_overflow(const PreparedOptimizer& prepared);

}  // namespace muster
