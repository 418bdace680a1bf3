#pragma once

#include <muster/communicator.hpp>

#include <cstdint>

namespace muster {

/// Collective, once a reduction has shown that ranks are not at the same place of the training
/// loop: throws ModelError on all of them that says which rank is where.
[[noreturn]] void throw_disagreement(Communicator& communicator, std::int64_t steps,
                                     std::int64_t closings);

}  // namespace muster
