#include "commands/sources.hpp"

namespace muster::launcher {

Sources sources_of(const CommandLine& line, const Environment& environment) {
  Sources sources;
  sources.flags = line.settings;
  sources.environment = environment;
  if (const auto file = line.value("--config")) sources.config_file = *file;
  sources.no_config = line.has("--no-config");
  return sources;
}

}  // namespace muster::launcher
