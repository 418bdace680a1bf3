#pragma once

#include <muster/data_error.hpp>
#include <muster/safetensors.hpp>

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <filesystem>

// Arrays that stay on the disk: their pages are read when they are first used, and all processes of
// a host share them. Writing to such a tensor changes this process's copy of a page, never the
// file. The file must not become shorter while a tensor of it lives: reading what is gone ends the
// program (SIGBUS). Tensors are on the CPU and keep the file mapped.

namespace muster {

/// The array of a NumPy .npy file (format 1 to 3) as numpy.load(path, mmap_mode="c") gives it: its
/// shape, and its order in memory, row by row or column by column. bool, (u)int8 to 64, float16 to
/// 64, complex64 and 128. Throws DataError for any other dtype, for big-endian numbers, and for a
/// file that is damaged or short.
at::Tensor map_npy(const std::filesystem::path& path);

/// [n] of what a file without a header holds, after `skip_bytes`: numbers as numpy.tofile writes
/// them. Throws DataError if the rest is no whole number of elements; ConfigError for skip_bytes
/// under 0.
at::Tensor map_binary(const std::filesystem::path& path, at::ScalarType dtype,
                      std::int64_t skip_bytes = 0);

/// As load_safetensors, without reading the tensors. Throws CheckpointError as it does, DataError
/// if the file cannot be mapped.
Safetensors map_safetensors(const std::filesystem::path& path);

}  // namespace muster
