#pragma once

#include <muster/memory_use.hpp>

#include <c10/core/Device.h>

namespace muster {

/// What the system, and the allocator of `device` unless it is a CPU, tell of this process.
MemoryUse memory_figures(c10::Device device);

}  // namespace muster
