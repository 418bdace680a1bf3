#include "commands/commands.hpp"
#include "describe/schema.hpp"
#include "screen/screen.hpp"

namespace muster::launcher {

int config_schema(const CommandLine&, const Environment&) {
  print_out(settings_schema());
  return 0;
}

}  // namespace muster::launcher
