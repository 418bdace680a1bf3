#pragma once

#include <muster/layout.hpp>
#include <muster/named_tensor.hpp>

#include <span>
#include <vector>

namespace muster {

/// Layouts of parameters that are whole on every rank; `rank` is this replica's number.
std::vector<Layout> replicated_parameters(std::span<const NamedTensor> parameters, int rank);

}  // namespace muster
