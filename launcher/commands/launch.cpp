#include <muster/error.hpp>

#include "commands/commands.hpp"
#include "commands/launch_end.hpp"
#include "commands/launch_hosts.hpp"
#include "commands/launch_plan.hpp"
#include "commands/launch_start.hpp"
#include "commands/sources.hpp"
#include "report/report_file.hpp"

#include <utility>

namespace muster::launcher {

int launch(const CommandLine& line, const Environment& environment) {
  if (line.program.empty()) {
    throw ConfigError("no program given; for example: muster launch -n 2 -- ./train --epochs 3");
  }
  check_dry_run(line);
  if (const auto path = line.value("--report")) {
    if (line.has("--dry-run")) throw ConfigError("--report: --dry-run starts nothing to report on");
    check_report_path(*path);
  }
  const auto resolution = resolve(sources_of(line, environment));
  const auto& settings = resolution.settings();
  auto draft = draft_job(line, resolution, environment);
  if (line.has("--dry-run")) {
    const bool notes = settings.log.level == "info" || settings.log.level == "debug";
    if (notes && !line.has("--quiet")) announce_choices(resolution, "", environment);
    if (settings.launch.nnodes > 1) {
      plan_hosts(resolution, draft.devices, draft.topology.host, draft.job);
    }
    print_dry_run(line, resolution, draft.topology, draft.job);
    return 0;
  }
  const auto [plan, outcome] = start_job(line, resolution, std::move(draft));
  tell_end(line, environment, resolution, plan, outcome);
  return exit_code_of(outcome);
}

}  // namespace muster::launcher
