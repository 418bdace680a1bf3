#include "devices/kinds.hpp"

#include <muster/error.hpp>

#include <array>
#include <string>

namespace muster {

std::span<const DeviceKind* const> device_kinds() noexcept {
  static const std::array<const DeviceKind*, 1> kinds{&cpu_kind()};
  return kinds;
}

const DeviceKind& device_kind(at::Device device) {
  const auto wanted = c10::DeviceTypeName(device.type(), true);
  std::string known;
  for (const auto* kind : device_kinds()) {
    if (kind->name() == wanted) {
      return *kind;
    }
    known += (known.empty() ? "" : ", ") + std::string(kind->name());
  }
  throw UnsupportedError("device '" + device.str() + "' was asked for; this build has " + known);
}

}  // namespace muster
