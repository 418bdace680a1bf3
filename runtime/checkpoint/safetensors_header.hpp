#pragma once

#include <c10/core/ScalarType.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace muster {

/// One tensor as the header describes it: where its bytes are in the data that follow the header.
struct SafetensorsEntry {
  std::string name;
  c10::ScalarType dtype = c10::ScalarType::Float;
  std::vector<std::int64_t> shape;
  std::uint64_t begin = 0, end = 0;
};

struct SafetensorsHeader {
  std::vector<SafetensorsEntry> entries;  ///< In the header's order.
  std::map<std::string, std::string> metadata;
};

/// The longest header that the format allows, in bytes.
inline constexpr std::uint64_t max_safetensors_header = 100'000'000;

/// Bytes of the header, from the file's first 8 (all, if it has fewer). Throws CheckpointError that
/// begins with `file` unless such a header fits the format and a file of `file_bytes`.
std::uint64_t safetensors_header_length(std::span<const std::byte> beginning,
                                        std::uint64_t file_bytes, const std::string& file);

/// Reads the JSON of a header that is followed by `data_bytes` bytes. Throws CheckpointError that
/// begins with `file` unless every entry is sound and together they cover the data without gap or
/// overlap.
SafetensorsHeader parse_safetensors_header(std::string_view json, std::uint64_t data_bytes,
                                           const std::string& file);

/// The JSON, padded with spaces to a multiple of 8 bytes. Throws CheckpointError that begins with
/// `file` for text that is not UTF-8.
std::string safetensors_header_text(const SafetensorsHeader& header, const std::string& file);

}  // namespace muster
