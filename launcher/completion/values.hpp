#pragma once

#include <muster/flags.hpp>

#include "completion/complete.hpp"

#include <span>
#include <string>
#include <string_view>

namespace muster::launcher {

/// What the value of a flag may be; `typed` is what is there of it.
Completion values_of(const FlagWord& flag, std::string_view typed);

/// What the next word of a command that takes words may be.
Completion operand_of(std::string_view command, std::span<const std::string> before);

}  // namespace muster::launcher
