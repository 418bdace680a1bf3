#pragma once

#include "plan.hpp"

#include <string>

namespace muster::launcher {

/// What is wrong with the network interfaces that the user tells Gloo (GLOO_SOCKET_IFNAME) to use:
/// each rank of a program that uses it would fail, and say little. Empty if nothing is. Muster's
/// own ranks do not read the variable.
std::string interface_note(const Plan& plan);

}  // namespace muster::launcher
