#include "checkpoint/safetensors_header.hpp"

#include <muster/error.hpp>

#include "checkpoint/header_events.hpp"
#include "checkpoint/safetensors_dtype.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>

namespace muster {
namespace {

/// Bytes of a tensor of that shape; nothing if they cannot be counted in 63 bits, also where
/// another dimension is 0.
std::optional<std::uint64_t> bytes_of(const SafetensorsEntry& entry) {
  constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  std::uint64_t spread = c10::elementSize(entry.dtype);
  bool empty = false;
  for (const std::int64_t extent : entry.shape) {
    const auto factor = static_cast<std::uint64_t>(std::max<std::int64_t>(extent, 1));
    if (spread > most / factor) return std::nullopt;
    spread *= factor;
    empty = empty || extent == 0;
  }
  return empty ? 0 : spread;
}

void check_entry(const SafetensorsEntry& entry, std::uint64_t data_bytes, const std::string& file) {
  const std::string tensor = file + ": tensor '" + entry.name + "' ";
  const std::string place =
      "bytes " + std::to_string(entry.begin) + " to " + std::to_string(entry.end);
  if (entry.begin > entry.end || entry.end > data_bytes) {
    throw CheckpointError(tensor + "has " + place + ", outside of the data, which are " +
                          std::to_string(data_bytes) + " bytes");
  }
  const auto bytes = bytes_of(entry);
  if (!bytes || *bytes != entry.end - entry.begin) {
    throw CheckpointError(tensor + "has " + place + ", but its shape and dtype take " +
                          (bytes ? std::to_string(*bytes) : "too many to count"));
  }
}

/// Entries must lie one after the other: what nobody describes could hide anything.
void check_coverage(const std::vector<SafetensorsEntry>& entries, std::uint64_t data_bytes,
                    const std::string& file) {
  std::vector<const SafetensorsEntry*> sorted;
  for (const SafetensorsEntry& entry : entries) sorted.push_back(&entry);
  std::ranges::sort(sorted, {},
                    [](const auto* entry) { return std::pair(entry->begin, entry->end); });
  std::uint64_t covered = 0;
  for (const SafetensorsEntry* entry : sorted) {
    if (entry->begin != covered) {
      throw CheckpointError(file + ": tensor '" + entry->name + "' begins at byte " +
                            std::to_string(entry->begin) + ", " +
                            (entry->begin < covered ? "inside" : "with a gap after") +
                            " the one before it, which ends at " + std::to_string(covered));
    }
    covered = entry->end;
  }
  if (covered != data_bytes) {
    throw CheckpointError(file + ": its tensors end at byte " + std::to_string(covered) +
                          ", but the data are " + std::to_string(data_bytes) + " bytes");
  }
}

}  // namespace

std::uint64_t safetensors_header_length(std::span<const std::byte> beginning,
                                        std::uint64_t file_bytes, const std::string& file) {
  std::uint64_t length = 0;
  if (beginning.size() < sizeof length) {
    throw CheckpointError(file + ": no safetensors file: it is " + std::to_string(file_bytes) +
                          " bytes long");
  }
  std::memcpy(&length, beginning.data(), sizeof length);
  if (length > max_safetensors_header || length > file_bytes - sizeof length) {
    throw CheckpointError(file + ": no whole safetensors file: its header should be " +
                          std::to_string(length) + " bytes, the file is " +
                          std::to_string(file_bytes) + " bytes long");
  }
  return length;
}

SafetensorsHeader parse_safetensors_header(std::string_view json, std::uint64_t data_bytes,
                                           const std::string& file) {
  HeaderEvents events;
  if (!json.starts_with('{')) {
    throw CheckpointError(file + ": no safetensors file: its header does not begin with '{'");
  }
  if (!nlohmann::json::sax_parse(json, &events)) {
    throw CheckpointError(file + ": " + events.fault());
  }
  for (const SafetensorsEntry& entry : events.header().entries) {
    check_entry(entry, data_bytes, file);
  }
  check_coverage(events.header().entries, data_bytes, file);
  return std::move(events.header());
}

std::string safetensors_header_text(const SafetensorsHeader& header, const std::string& file) {
  const auto quoted = [](std::string_view text) { return nlohmann::json(text).dump(); };
  try {
    std::string text = "{";
    if (!header.metadata.empty()) {
      text += "\"__metadata__\":" + nlohmann::json(header.metadata).dump();
    }
    for (const SafetensorsEntry& entry : header.entries) {
      if (text.size() > 1) text += ',';
      text += quoted(entry.name) + ":{\"dtype\":" + quoted(*safetensors_name(entry.dtype)) +
              ",\"shape\":" + nlohmann::json(entry.shape).dump() + ",\"data_offsets\":[" +
              std::to_string(entry.begin) + ',' + std::to_string(entry.end) + "]}";
    }
    text += '}';
    text.resize((text.size() + 7) / 8 * 8, ' ');
    return text;
  } catch (const nlohmann::json::type_error&) {
    throw CheckpointError(file + ": a tensor's name or the metadata is no UTF-8 text");
  }
}

}  // namespace muster
