#pragma once

#include "data/disk/mapped_file.hpp"
#include "data/disk/mapped_tensor.hpp"

namespace muster {

/// Where the array of a .npy file lies. Throws DataError unless all of it is in the file.
TensorPlace read_npy_header(const MappedFile& file);

}  // namespace muster
