#pragma once

#include <string>

namespace muster::launcher {

/// "SIGTERM" for 15; "signal 77" for one without a name.
std::string signal_name(int signal);

}  // namespace muster::launcher
