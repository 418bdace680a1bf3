#pragma once

#include "import/carrier.hpp"
#include "import/document.hpp"

#include <string>

namespace muster::launcher {

/// True for a map that has a key which only accelerate's configuration has.
bool is_accelerate(const DocumentNode& root);

/// accelerate's configuration file, of any of its versions: keys that say what is so anyway are
/// passed over in silence. Throws ConfigError if `root` is no map.
Import import_accelerate(const DocumentNode& root, const std::string& file);

}  // namespace muster::launcher
