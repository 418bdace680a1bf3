#pragma once

namespace muster {

/// Thrown out of a load that nobody waits for any more; never reaches a user.
struct LoadStopped {};

}  // namespace muster
