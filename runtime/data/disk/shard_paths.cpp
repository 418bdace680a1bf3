#include <muster/tar_shards.hpp>

#include <algorithm>
#include <charconv>
#include <glob.h>
#include <string>

namespace muster {
namespace {

constexpr std::int64_t most_paths = 1'000'000;

[[noreturn]] void refuse(std::string_view range) {
  throw ConfigError("shard_paths: '" + std::string(range) +
                    "' is no range; expected {FIRST..LAST}, such as {000..015}");
}

std::int64_t number(std::string_view digits, std::string_view range) {
  std::int64_t value = 0;
  const auto [end, fault] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (digits.empty() || fault != std::errc{} || end != digits.data() + digits.size() || value < 0) {
    refuse(range);
  }
  return value;
}

/// `pattern` with its first range spelt out, and the same of what follows.
std::vector<std::string> spelt_out(const std::string& pattern) {
  const std::size_t open = pattern.find('{');
  if (open == std::string::npos) return {pattern};
  const std::size_t close = pattern.find('}', open);
  const std::string range = pattern.substr(open, close == pattern.npos ? close : close - open + 1);
  const std::size_t dots = range.find("..");
  if (close == std::string::npos || dots == std::string::npos) refuse(range);
  const std::string first = range.substr(1, dots - 1);
  const std::int64_t from = number(first, range);
  const std::int64_t to = number(range.substr(dots + 2, range.size() - dots - 3), range);
  if (to < from || to - from >= most_paths) refuse(range);
  std::vector<std::string> result;
  for (std::int64_t i = from; i <= to; ++i) {
    std::string digits = std::to_string(i);
    digits.insert(0, first.size() - std::min(first.size(), digits.size()), '0');
    for (const std::string& rest : spelt_out(pattern.substr(close + 1))) {
      result.push_back(pattern.substr(0, open) + digits + rest);
    }
  }
  return result;
}

void add_matches(const std::string& pattern, std::vector<std::filesystem::path>& paths) {
  glob_t found{};
  if (glob(pattern.c_str(), 0, nullptr, &found) == 0) {
    paths.insert(paths.end(), found.gl_pathv, found.gl_pathv + found.gl_pathc);
  }
  globfree(&found);
}

}  // namespace

std::vector<std::filesystem::path> shard_paths(std::string_view pattern) {
  std::vector<std::filesystem::path> paths;
  for (const std::string& one : spelt_out(std::string(pattern))) {
    const std::size_t before = paths.size();
    add_matches(one, paths);
    if (paths.size() == before) throw DataError(one + ": no such file");
  }
  return paths;
}

}  // namespace muster
