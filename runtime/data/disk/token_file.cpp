#include <muster/array_files.hpp>
#include <muster/token_dataset.hpp>

#include "data/disk/mapped_file.hpp"
#include "data/disk/mapped_tensor.hpp"

#include <array>
#include <cstring>
#include <optional>
#include <string>

namespace muster {
namespace {

/// llm.c's files begin with 256 numbers of 32 bits: a magic number that stands for the dtype, a
/// version, and how many tokens follow.
struct HeaderKind {
  std::uint32_t magic, version;
  at::ScalarType dtype;
};
constexpr std::array header_kinds{HeaderKind{20240520, 1, at::kUInt16},
                                  HeaderKind{20240801, 7, at::kUInt32}};
constexpr std::size_t header_bytes = 1024;

/// Nothing for a file without such a header.
std::optional<TensorPlace> place_by_header(const MappedFile& file) {
  const auto bytes = file.bytes();
  if (bytes.size() < header_bytes) return {};
  std::array<std::uint32_t, 3> found{};
  std::memcpy(found.data(), bytes.data(), sizeof found);
  const auto [magic, version, tokens] = found;
  for (const HeaderKind& kind : header_kinds) {
    if (magic != kind.magic || version != kind.version) continue;
    const std::size_t wanted = header_bytes + tokens * c10::elementSize(kind.dtype);
    if (bytes.size() < wanted) {
      throw DataError(file.name() + ": its header tells of " + std::to_string(tokens) +
                      " tokens, which would make it " + std::to_string(wanted) +
                      " bytes long; it is " + std::to_string(bytes.size()));
    }
    return TensorPlace{header_bytes, kind.dtype, {static_cast<std::int64_t>(tokens)}, {1}};
  }
  return {};
}

}  // namespace

at::Tensor map_tokens(const std::filesystem::path& path, at::ScalarType dtype) {
  const auto file = std::make_shared<const MappedFile>(path);
  if (const auto place = place_by_header(*file)) return tensor_in(file, *place);
  return map_binary(path, dtype);
}

}  // namespace muster
