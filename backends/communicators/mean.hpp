#pragma once

namespace muster {

/// What a sum over ranks is multiplied with if it is to be divided by their counts, which add up to
/// `total`.
inline double mean_factor(double total) noexcept { return total > 0 ? 1.0 / total : 1.0; }

}  // namespace muster
