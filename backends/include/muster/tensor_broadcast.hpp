#pragma once

#include <muster/communicator.hpp>
#include <muster/named_tensor.hpp>

#include <span>
#include <string_view>

namespace muster {

/// Collective: gives all tensors the values of rank 0, whatever their dtypes, in one operation for
/// every 64 MiB. They are written in place without a new version, so that a backward through a
/// forward that read the old values stays legal.
void broadcast_tensors(std::span<const NamedTensor> tensors, Communicator& communicator,
                       std::string_view label);

}  // namespace muster
