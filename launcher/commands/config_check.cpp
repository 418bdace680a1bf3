#include <muster/error.hpp>
#include <muster/resolve.hpp>

#include "commands/commands.hpp"
#include "screen/screen.hpp"

#include <algorithm>
#include <filesystem>

namespace muster::launcher {

int config_check(const CommandLine& line, const Environment&) {
  if (line.operands.size() > 1) {
    throw ConfigError("muster config check takes one file, found also '" + line.operands[1] + "'");
  }
  const std::string file = line.operands.empty() ? "muster.toml" : line.operands.front();
  if (file.empty()) throw ConfigError("muster config check needs the name of a file");
  if (!std::filesystem::exists(file)) throw ConfigError(file + ": no such file");
  Sources sources;  // The file alone: neither variables nor the user's file.
  sources.config_file = file;
  const auto resolution = resolve(sources);
  const auto& entries = resolution.entries();
  const auto count = std::count_if(entries.begin(), entries.end(), [](const Entry& entry) {
    return entry.origin.kind != Origin::Kind::built_in;
  });
  print_out(file + ": no fault, " + std::to_string(count) +
            (count == 1 ? " setting\n" : " settings\n"));
  return 0;
}

}  // namespace muster::launcher
