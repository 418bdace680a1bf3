#include <muster/error.hpp>

#include "commands/commands.hpp"
#include "commands/launch_end.hpp"
#include "commands/launch_plan.hpp"
#include "commands/run_job.hpp"
#include "commands/sources.hpp"
#include "devices/choose_devices.hpp"
#include "planning/address.hpp"
#include "planning/make_plan.hpp"
#include "report/report_file.hpp"
#include "supervise/descriptors.hpp"

#include <fmt/core.h>

#include <cstdint>
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
  const auto topology = host_of(line, resolution, environment);

  Job job{line.program, line.module, environment, random_id(), "", "", 0};
  job.address = literal_address(settings.launch.master_addr, names);
  job.port = static_cast<std::uint16_t>(settings.launch.master_port);
  if (line.has("--dry-run")) {
    const bool notes = settings.log.level == "info" || settings.log.level == "debug";
    if (notes && !line.has("--quiet")) announce_choices(resolution, "", environment);
    print_dry_run(line, resolution, topology, job);
    return 0;
  }
  const auto devices = choose_devices(settings.launch, environment, topology.nvidia, names);
  check_file_limit(static_cast<std::size_t>(choose_ranks(settings.launch, devices).ranks),
                   !settings.launch.log_dir.empty());
  const auto [plan, outcome] = run_job(line, resolution, topology, std::move(job));
  tell_end(line, environment, resolution, plan, outcome);
  return exit_code_of(outcome);
}

}  // namespace muster::launcher
