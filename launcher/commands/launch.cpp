#include <muster/error.hpp>

#include "commands/commands.hpp"
#include "commands/launch_end.hpp"
#include "commands/launch_hosts.hpp"
#include "commands/launch_plan.hpp"
#include "commands/run_job.hpp"
#include "commands/sources.hpp"
#include "devices/choose_devices.hpp"
#include "planning/address.hpp"
#include "planning/make_plan.hpp"
#include "rendezvous/rendezvous.hpp"
#include "report/report_file.hpp"
#include "supervise/descriptors.hpp"

#include <fmt/core.h>

#include <cstdint>
#include <optional>
#include <sys/random.h>
#include <unistd.h>
#include <utility>

namespace muster::launcher {
namespace {

std::string random_id() {
  std::uint32_t number = 0;
  if (::getrandom(&number, sizeof number, GRND_NONBLOCK) < 0) {
    number = static_cast<std::uint32_t>(::getpid());
  }
  return fmt::format("{:08x}", number);
}

}  // namespace

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
  const SettingNames names(resolution);
  const auto& settings = resolution.settings();
  check_hosts(resolution);
  const bool several = settings.launch.nnodes > 1;
  const auto topology = host_of(line, resolution, environment);

  const auto& run_id = settings.launch.run_id;
  Job job{line.program, line.module, environment, run_id.empty() ? random_id() : run_id, "", "", 0};
  if (!several) job.address = literal_address(settings.launch.master_addr, names);
  job.port = static_cast<std::uint16_t>(settings.launch.master_port);
  const auto devices = choose_devices(settings.launch, environment, topology.nvidia, names);
  if (line.has("--dry-run")) {
    const bool notes = settings.log.level == "info" || settings.log.level == "debug";
    if (notes && !line.has("--quiet")) announce_choices(resolution, "", environment);
    if (several) plan_hosts(resolution, devices, topology.host, job);
    print_dry_run(line, resolution, topology, job);
    return 0;
  }
  check_file_limit(static_cast<std::size_t>(least_ranks_here(settings.launch, devices)),
                   !settings.launch.log_dir.empty());
  const auto [plan, outcome] = several ? run_on_hosts(line, resolution, topology, std::move(job))
                                       : run_job(line, resolution, topology, std::move(job));
  tell_end(line, environment, resolution, plan, outcome);
  return exit_code_of(outcome);
}

}  // namespace muster::launcher
