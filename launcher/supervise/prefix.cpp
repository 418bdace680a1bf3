#include "prefix.hpp"

#include <muster/error.hpp>

#include <algorithm>
#include <array>

namespace muster::launcher {
namespace {

std::string value_of(const std::string& word, const std::string& pattern, const ProcessSpec& spec) {
  if (word == "rank") return std::to_string(spec.world.rank);
  if (word == "local_rank") return std::to_string(spec.world.local_rank);
  if (word == "node") return std::to_string(spec.world.node_rank);
  if (word == "host") return spec.host;
  throw ConfigError("the prefix '" + pattern + "': unknown {" + word +
                    "}; known are {rank}, {local_rank}, {node} and {host}");
}

}  // namespace

std::string expand_prefix(const std::string& pattern, const ProcessSpec& spec) {
  std::string text;
  std::size_t at = 0;
  while (at < pattern.size()) {
    const auto open = pattern.find('{', at);
    const auto close = open == std::string::npos ? open : pattern.find('}', open);
    text += pattern.substr(at, close == std::string::npos ? close : open - at);
    if (close == std::string::npos) break;
    text += value_of(pattern.substr(open + 1, close - open - 1), pattern, spec);
    at = close + 1;
  }
  return text;
}

std::string coloured(const std::string& prefix, int rank) {
  // Without red, which failures have, and black and white, which may be the ground.
  constexpr std::array colours{36, 33, 32, 35, 34, 96, 93, 92, 95, 94};
  if (prefix.empty()) return prefix;
  const int colour = colours[static_cast<std::size_t>(rank) % colours.size()];
  return "\x1b[" + std::to_string(colour) + "m" + prefix + "\x1b[0m";
}

int columns_of(const std::string& prefix) {
  // Bytes that start a character of UTF-8.
  return static_cast<int>(std::ranges::count_if(
      prefix, [](char byte) { return (static_cast<unsigned char>(byte) & 0xC0) != 0x80; }));
}

}  // namespace muster::launcher
