#include "commands/launch_plan.hpp"

#include <muster/error.hpp>

#include "commands/launch_hosts.hpp"
#include "devices/choose_devices.hpp"
#include "planning/dry_run.hpp"
#include "planning/placement.hpp"
#include "planning/plan_text.hpp"
#include "screen/screen.hpp"
#include "topology/recording.hpp"

#include <string>
#include <unistd.h>

namespace muster::launcher {

void check_dry_run(const CommandLine& line) {
  const auto form = line.value("--dry-run").value_or("");
  for (const auto* known : {"", "text", "json", "sh"}) {
    if (form == known) return;
  }
  throw ConfigError("--dry-run=" + form + ": expected text, json or sh");
}

Topology host_of(const CommandLine& line, const Resolution& resolution,
                 const Environment& environment) {
  const auto& settings = resolution.settings().launch;
  const auto file = line.value("--topology");
  if (file && line.has("--dry-run")) return read_recording(*file).topology;
  auto here = discover(Sysroot(), nvml_use(settings, environment));
  const auto devices = choose_devices(settings, environment, here.nvidia, SettingNames(resolution));
  if (file || needs_layout(settings, here, least_ranks_here(settings, devices))) {
    here.layout = discover_layout(Sysroot());
  }
  if (file) check_same_machine(*file, read_recording(*file).topology, here);
  return here;
}

void print_dry_run(const CommandLine& line, const Resolution& resolution, const Topology& topology,
                   const Job& job) {
  const auto& settings = resolution.settings();
  const auto plan = make_plan(resolution, topology, job);
  const bool notes = settings.log.level == "info" || settings.log.level == "debug";
  if (notes && !line.has("--quiet") && !plan.bind_note.empty()) {
    complain(plan.bind_note, job.environment);
  }
  const DryRun run{plan, settings.launch, topology.cpus, job.environment};
  const auto form = line.value("--dry-run").value_or("");
  if (form == "json") {
    print_out(plan_json(run));
  } else if (form == "sh") {
    print_out(plan_script(run));
  } else {
    print_out(plan_text(plan, settings.train, topology.cpus, job.environment,
                        Screen::of(STDOUT_FILENO, job.environment)));
  }
}

}  // namespace muster::launcher
