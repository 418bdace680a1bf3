#pragma once

#include "import/carrier.hpp"
#include "import/document.hpp"

#include <string>

namespace muster::launcher {

/// True for a map that has a key which only DeepSpeed's configuration has.
bool is_deepspeed(const DocumentNode& root);

/// DeepSpeed's configuration. "auto" stays with the program, which is said. Throws ConfigError if
/// `root` is no map.
Import import_deepspeed(const DocumentNode& root, const std::string& file);

}  // namespace muster::launcher
