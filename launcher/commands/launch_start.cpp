#include "commands/launch_start.hpp"

#include "commands/launch_hosts.hpp"
#include "commands/launch_plan.hpp"
#include "planning/address.hpp"
#include "rendezvous/rendezvous.hpp"
#include "supervise/descriptors.hpp"

#include <fmt/core.h>

#include <cstddef>
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

JobDraft draft_job(const CommandLine& line, const Resolution& resolution,
                   const Environment& environment) {
  const SettingNames names(resolution);
  const auto& launch = resolution.settings().launch;
  check_hosts(resolution);
  JobDraft draft;
  draft.topology = host_of(line, resolution, environment);
  auto& job = draft.job;
  job.program = line.program;
  job.module = line.module;
  job.environment = environment;
  job.run_id = launch.run_id.empty() ? random_id() : launch.run_id;
  job.address = launch.nnodes > 1 ? "" : literal_address(launch.master_addr, names);
  job.port = static_cast<std::uint16_t>(launch.master_port);
  draft.devices = choose_devices(launch, environment, draft.topology.nvidia, names);
  return draft;
}

JobEnd start_job(const CommandLine& line, const Resolution& resolution, JobDraft draft) {
  const auto& launch = resolution.settings().launch;
  check_file_limit(static_cast<std::size_t>(least_ranks_here(launch, draft.devices)),
                   !launch.log_dir.empty());
  return launch.nnodes > 1 ? run_on_hosts(line, resolution, draft.topology, std::move(draft.job))
                           : run_job(line, resolution, draft.topology, std::move(draft.job));
}

JobEnd start_job(const CommandLine& line, const Resolution& resolution,
                 const Environment& environment, const std::function<void(const Plan&)>& collect) {
  auto draft = draft_job(line, resolution, environment);
  draft.job.collect = collect;
  return start_job(line, resolution, std::move(draft));
}

}  // namespace muster::launcher
