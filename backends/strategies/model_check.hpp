#pragma once

#include <muster/communicator.hpp>
#include <muster/strategy.hpp>

#include <span>

namespace muster {

/// Collective. Throws ModelError on every rank unless all have the same parameters and buffers in
/// the same order (name, shape, memory order, dtype, requires_grad) and the same bucket sizes; it
/// names the first that differs, with both versions. Costs one small exchange if they agree.
void require_same_model(std::span<const NamedTensor> parameters,
                        std::span<const NamedTensor> buffers, const StrategyOptions& options,
                        Communicator& communicator);

}  // namespace muster
