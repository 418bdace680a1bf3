#pragma once

#include "diagnose/hang_facts.hpp"
#include "screen/screen.hpp"

#include <string>

namespace muster::launcher {

/// The verdict, and below it what each rank does and its stack; ranks with equal stacks together.
/// Ends with a newline. Pure.
std::string hang_text(const HangFacts& facts, const Screen& screen);

/// "muster: hang: rank 0 waited too long ...: ", what the verdict follows.
std::string cause_text(const HangCause& cause);

}  // namespace muster::launcher
