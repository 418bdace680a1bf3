#pragma once

#include "topology/layout.hpp"
#include "topology/sysroot.hpp"

namespace muster::launcher {

/// The layout as the kernel tells it below /sys.
Layout sysfs_layout(const Sysroot& root);

}  // namespace muster::launcher
