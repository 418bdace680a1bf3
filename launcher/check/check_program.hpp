#pragma once

#include <muster/world.hpp>

#include <string>

namespace muster::launcher {

/// The program that `muster test` starts, from the place of this one: ../libexec/muster, both where
/// it was built and where it is installed. Throws Error (not found), saying where it was looked for
/// and what has it.
std::string check_program();

/// Lets the program find LibTorch where MUSTER_LIBTORCH says, if that is set: what was installed
/// looks where LibTorch was when it was built.
void add_libtorch(Environment& environment);

}  // namespace muster::launcher
