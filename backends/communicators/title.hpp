#pragma once

#include <muster/operation.hpp>

#include <string>

namespace muster {

/// "all_reduce #12 'loss'": how messages name an operation.
std::string title(const Operation& operation);

/// "float32 [3, 4]": what the operation reads, or what it writes; empty for a barrier.
std::string tensor_text(const Operation& operation);

}  // namespace muster
