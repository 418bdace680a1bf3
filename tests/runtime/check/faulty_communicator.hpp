#pragma once

#include <muster/communicator.hpp>

#include <memory>
#include <string>

namespace muster::test {

/// The fault that BREAK_CHECK asks for; empty: none.
const std::string& wanted_fault();

/// `inner`, and on the last rank of the world the fault that BREAK_CHECK asks for, if it is one of
/// a communicator: "all_reduce" and the like flip a bit of what that operation gave, "deadlines"
/// waits on, "die" is a SIGSEGV, and so on.
std::unique_ptr<Communicator> faulty(std::unique_ptr<Communicator> inner);

}  // namespace muster::test
