#pragma once

#include "gradient_window.hpp"

#include <vector>

namespace muster {

/// The slots of the trained parameters in `only`, or of all if it is empty. Throws ModelError for a
/// tensor that the model does not have.
std::vector<std::size_t> select_slots(const FlatModel& model, const std::vector<at::Tensor>& only);

/// The norm of the mean gradients of these slots: norm_type 2, squares summed in compensated fp64
/// and rounded to fp32 once, so that it does not depend on buckets or ranks; or infinity. Throws
/// ConfigError for another.
double gradient_norm(const FlatModel& model, const GradientWindow& window,
                     const std::vector<std::size_t>& slots, double norm_type);

/// gradients *= factor.
void scale_gradients(const GradientWindow& window, const std::vector<std::size_t>& slots,
                     double factor);

}  // namespace muster
