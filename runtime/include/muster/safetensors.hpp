#pragma once

#include <muster/named_tensor.hpp>

#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace muster {

/// What a safetensors file holds.
struct Safetensors {
  std::vector<NamedTensor> tensors;  ///< In the order of the file's header.
  std::map<std::string, std::string> metadata;

  /// The tensor of that name, or the one that the metadata tie it to; null if there is none.
  const at::Tensor* find(std::string_view name) const;
};

/// Writes `tensors` to a file that Python's safetensors reads. A tensor that stands under several
/// names (the same memory in the same form) is written once, under the first; for the others
/// metadata[name] = first, as safetensors.torch.save_model does it. Any device and any strides;
/// written row-major.
///
/// The file is whole or not there: it is written beside `path`, flushed to the disk and renamed. An
/// older file stays untouched until then. Mode 0644 less the umask. Throws CheckpointError naming
/// the file and, where it is one, the tensor: undefined, sparse, quantised or of a dtype that the
/// format lacks (complex double), two different tensors of one name, or the system's error.
void save_safetensors(const std::filesystem::path& path, std::span<const NamedTensor> tensors,
                      const std::map<std::string, std::string>& metadata = {});

/// Reads a whole file into tensors of their own memory on the CPU; the file may change afterwards.
/// Believes nothing in it: throws CheckpointError, naming the file and what is wrong, before it
/// allocates more than the file is long.
Safetensors load_safetensors(const std::filesystem::path& path);

}  // namespace muster
