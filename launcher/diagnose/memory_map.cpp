#include "diagnose/memory_map.hpp"

#include "text.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

namespace muster::launcher {
namespace {

std::optional<std::uint64_t> hexadecimal(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, 16);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return number;
}

/// Takes the word off the front of `line`.
std::string_view next_word(std::string_view& line) {
  const auto start = std::min(line.find_first_not_of(' '), line.size());
  const auto end = std::min(line.find(' ', start), line.size());
  const auto word = line.substr(start, end - start);
  line.remove_prefix(end);
  return word;
}

std::optional<Mapping> mapping_of(std::string_view line) {
  const auto range = next_word(line);
  const auto rights = next_word(line);
  const auto offset = hexadecimal(next_word(line));
  next_word(line);
  const auto inode = to_number<std::uint64_t>(next_word(line));
  const auto dash = std::min(range.find('-'), range.size());
  const auto start = hexadecimal(range.substr(0, dash));
  const auto end = hexadecimal(range.substr(std::min(dash + 1, range.size())));
  if (!start || !end || !offset || !inode || rights.size() < 3) return std::nullopt;
  return Mapping{*start, *end, *offset, *inode, rights[2] == 'x', std::string(trim(line))};
}

}  // namespace

MemoryMap MemoryMap::parse(std::string_view text) {
  MemoryMap map;
  for (const auto line : split(text, '\n'))
    if (auto mapping = mapping_of(line)) map.mappings_.push_back(std::move(*mapping));
  return map;
}

const Mapping* MemoryMap::find(std::uint64_t address) const {
  const auto after = std::ranges::upper_bound(mappings_, address, {}, &Mapping::start);
  if (after == mappings_.begin()) return nullptr;
  const auto& before = *(after - 1);
  return address < before.end ? &before : nullptr;
}

const Mapping* MemoryMap::beginning_of(const Mapping& mapping) const {
  if (mapping.path.empty()) return nullptr;
  // The nearest below: a library can be loaded twice.
  for (const Mapping* at = &mapping; at >= mappings_.data(); --at) {
    if (at->path != mapping.path || at->inode != mapping.inode) {
      if (!at->path.empty()) break;
      continue;
    }
    if (at->offset == 0) return at;
  }
  return nullptr;
}

}  // namespace muster::launcher
