#pragma once

#include <muster/mesh.hpp>

#include <string_view>

namespace muster {

/// The mean of `value` over the ranks that data is spread over, with the same bits on all: it is
/// summed in rank order. Collective.
double mean_over_ranks(const Mesh& mesh, double value, std::string_view label);

}  // namespace muster
