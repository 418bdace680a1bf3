#pragma once

#include <muster/image_folder.hpp>

namespace muster {

/// Throws ConfigError for options that cannot be.
void require_valid(const ImageOptions& options);

}  // namespace muster
