#include <muster/array_files.hpp>

#include "checkpoint/safetensors_header.hpp"
#include "data/disk/mapped_file.hpp"
#include "data/disk/mapped_tensor.hpp"
#include "data/disk/npy_header.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

namespace muster {

at::Tensor map_npy(const std::filesystem::path& path) {
  const auto file = std::make_shared<const MappedFile>(path);
  return tensor_in(file, read_npy_header(*file));
}

at::Tensor map_binary(const std::filesystem::path& path, at::ScalarType dtype,
                      std::int64_t skip_bytes) {
  if (skip_bytes < 0) {
    throw ConfigError("map_binary: skip_bytes is " + std::to_string(skip_bytes) +
                      "; expected 0 or more");
  }
  const auto file = std::make_shared<const MappedFile>(path);
  const std::size_t length = file->bytes().size(), skip = static_cast<std::size_t>(skip_bytes),
                    width = c10::elementSize(dtype);
  if (skip > length || (length - skip) % width != 0) {
    throw DataError(file->name() + ": its " + std::to_string(length) + " bytes less " +
                    std::to_string(skip) + " are no whole number of " + c10::toString(dtype) +
                    ", of " + std::to_string(width) + " bytes each");
  }
  return tensor_in(file, {skip, dtype, {static_cast<std::int64_t>((length - skip) / width)}, {1}});
}

Safetensors map_safetensors(const std::filesystem::path& path) {
  const auto file = std::make_shared<const MappedFile>(path);
  const auto bytes = file->bytes();
  constexpr std::size_t before = sizeof(std::uint64_t);
  const std::uint64_t length = safetensors_header_length(
      bytes.first(std::min(before, bytes.size())), bytes.size(), file->name());
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const std::size_t start = before + length;
  SafetensorsHeader header =
      parse_safetensors_header(text.substr(before, length), bytes.size() - start, file->name());
  Safetensors result;
  result.metadata = std::move(header.metadata);
  for (SafetensorsEntry& entry : header.entries) {
    const at::DimVector sizes(entry.shape.begin(), entry.shape.end());
    result.tensors.push_back(
        {std::move(entry.name),
         tensor_in(file, {start + entry.begin, entry.dtype, sizes, row_major(sizes)})});
  }
  return result;
}

}  // namespace muster
