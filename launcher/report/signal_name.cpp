#include "report/signal_name.hpp"

#include <cstring>

namespace muster::launcher {

std::string signal_name(int signal) {
  const char* name = ::sigabbrev_np(signal);
  return name != nullptr ? "SIG" + std::string(name) : "signal " + std::to_string(signal);
}

}  // namespace muster::launcher
