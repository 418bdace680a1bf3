#pragma once

#include <string>

namespace muster::launcher {

/// muster(1) as man reads it: every command with its options, and every setting.
std::string man_page();

}  // namespace muster::launcher
