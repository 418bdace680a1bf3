#include "diagnose/frame_table.hpp"

#include <algorithm>
#include <cstring>
#include <elf.h>
#include <string>

namespace muster::launcher {
namespace {

constexpr std::uint64_t page_size = 4096;

/// What is needed of the headers of a file in the memory.
struct Headers {
  std::uint64_t bias = 0;
  std::uint64_t frame_index = 0;  ///< .eh_frame_hdr; 0: none.
};

std::optional<Headers> headers_at(RemoteMemory& memory, std::uint64_t start) {
  Elf64_Ehdr file{};
  if (!memory.read(start, file) || std::memcmp(file.e_ident, ELFMAG, SELFMAG) != 0 ||
      file.e_ident[EI_CLASS] != ELFCLASS64 || file.e_phentsize != sizeof(Elf64_Phdr))
    return std::nullopt;
  Headers headers;
  bool loaded = false;
  for (std::uint64_t i = 0; i < file.e_phnum; ++i) {
    Elf64_Phdr part{};
    if (!memory.read(start + file.e_phoff + i * sizeof part, part)) return std::nullopt;
    if (part.p_type == PT_LOAD && !loaded) {
      loaded = true;
      headers.bias = start - part.p_vaddr / page_size * page_size;
    }
    if (part.p_type == PT_GNU_EH_FRAME) headers.frame_index = part.p_vaddr;
  }
  if (headers.frame_index != 0) headers.frame_index += headers.bias;
  return loaded ? std::optional(headers) : std::nullopt;
}

/// The address of the last entry that starts at or before `address`, by the sorted index.
std::optional<std::uint64_t> look_up(RemoteMemory& memory, std::uint64_t index,
                                     std::uint64_t address) {
  constexpr std::uint8_t sorted = 0x3b;  // Pairs of 32-bit offsets from the index.
  RemoteReader reader(memory, index);
  const auto version = reader.take<std::uint8_t>();
  const auto frame_encoding = reader.take<std::uint8_t>();
  const auto count_encoding = reader.take<std::uint8_t>();
  const auto table_encoding = reader.take<std::uint8_t>();
  reader.pointer(frame_encoding, index);
  const auto count = reader.pointer(count_encoding, index);
  if (reader.failed() || version != 1 || table_encoding != sorted || count == 0)
    return std::nullopt;
  struct Pair {
    std::int32_t code, entry;
  };
  const auto table = reader.address();
  const auto target = static_cast<std::int64_t>(address - index);
  std::uint64_t low = 0, high = count;
  Pair pair{};
  while (low + 1 < high) {
    const auto middle = low + (high - low) / 2;
    if (!memory.read(table + middle * sizeof pair, pair)) return std::nullopt;
    (pair.code <= target ? low : high) = middle;
  }
  if (!memory.read(table + low * sizeof pair, pair) || pair.code > target) return std::nullopt;
  return index + static_cast<std::uint64_t>(std::int64_t{pair.entry});
}

/// The length at the front of an entry, and where what it counts begins.
std::uint64_t end_of_entry(RemoteReader& reader) {
  constexpr std::uint32_t is_long = 0xffffffff;
  std::uint64_t length = reader.take<std::uint32_t>();
  if (length == is_long) length = reader.take<std::uint64_t>();
  return reader.address() + length;
}

/// How pointers of the entries are written; what the common part at `at` says besides goes to
/// `entry`.
struct Common {
  std::uint8_t encoding = 0;
  bool augmented = false;
};

std::optional<Common> read_common(RemoteMemory& memory, std::uint64_t at, FrameEntry& entry) {
  RemoteReader reader(memory, at);
  Common common;
  entry.common_end = end_of_entry(reader);
  reader.take<std::uint32_t>();  // 0: it is a common part.
  const auto version = reader.take<std::uint8_t>();
  std::string letters;
  for (char letter = reader.take<char>(); letter != 0 && letters.size() < 16;
       letter = reader.take<char>())
    letters += letter;
  if (version == 4) reader.skip(2);  // Sizes of addresses and of segments.
  entry.code_factor = reader.uleb();
  entry.data_factor = reader.sleb();
  entry.return_column = version == 1 ? reader.take<std::uint8_t>() : reader.uleb();
  common.augmented = letters.starts_with('z');
  std::uint64_t instructions = reader.address();
  if (common.augmented) {
    const auto size = reader.uleb();
    instructions = reader.address() + size;
  }
  for (const char letter : letters) {
    if (letter == 'R') common.encoding = reader.take<std::uint8_t>();
    if (letter == 'S') entry.signal = true;
    if (letter == 'L') reader.take<std::uint8_t>();
    if (letter == 'P') {
      // Of no use here, but what follows it is. It is not followed.
      const auto encoding = static_cast<std::uint8_t>(reader.take<std::uint8_t>() & 0x7fU);
      reader.pointer(encoding, 0);
    }
  }
  entry.common = instructions;
  const bool known = letters.empty() || common.augmented;
  return reader.failed() || !known ? std::nullopt : std::optional(common);
}

}  // namespace

std::optional<std::uint64_t> load_bias(RemoteMemory& memory, const MemoryMap& map,
                                       const Mapping& mapping) {
  const auto* const start = map.beginning_of(mapping);
  const auto headers = start ? headers_at(memory, start->start) : std::nullopt;
  return headers ? std::optional(headers->bias) : std::nullopt;
}

std::optional<FrameEntry> find_frame_entry(RemoteMemory& memory, const MemoryMap& map,
                                           std::uint64_t address) {
  const auto* const mapping = map.find(address);
  const auto* const start = mapping ? map.beginning_of(*mapping) : nullptr;
  const auto headers = start ? headers_at(memory, start->start) : std::nullopt;
  if (!headers || headers->frame_index == 0) return std::nullopt;
  const auto at = look_up(memory, headers->frame_index, address);
  if (!at) return std::nullopt;
  FrameEntry entry;
  RemoteReader reader(memory, *at);
  entry.instructions_end = end_of_entry(reader);
  const auto pointer_at = reader.address();
  const auto back = reader.take<std::uint32_t>();
  const auto common = read_common(memory, pointer_at - back, entry);
  if (!common) return std::nullopt;
  entry.start = reader.pointer(common->encoding, 0);
  entry.end = entry.start + reader.pointer(common->encoding & 0x0fU, 0);
  if (common->augmented) {
    const auto size = reader.uleb();
    reader.skip(size);
  }
  entry.instructions = reader.address();
  if (reader.failed() || address < entry.start || address >= entry.end) return std::nullopt;
  return entry;
}

}  // namespace muster::launcher
