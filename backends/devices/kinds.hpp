#pragma once

#include <muster/device.hpp>

namespace muster {

// One function a kind of device, named in the table of kinds.cpp.

const DeviceKind& cpu_kind() noexcept;

}  // namespace muster
