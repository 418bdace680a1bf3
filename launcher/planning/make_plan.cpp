#include "planning/make_plan.hpp"

#include "devices/choose_devices.hpp"
#include "planning/nearest_nic.hpp"
#include "planning/placement.hpp"
#include "planning/program.hpp"
#include "planning/rank_environment.hpp"
#include "planning/rank_variables.hpp"
#include "planning/wrap.hpp"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

namespace muster::launcher {
namespace {

World world_of(const LaunchSettings& launch, const Job& job, int local_rank, int ranks) {
  World world;
  world.rank = world.local_rank = local_rank;
  world.size = world.local_size = ranks;
  if (!job.nodes.empty()) {
    world.node_rank = job.node_rank;
    world.node_count = static_cast<int>(job.nodes.size());
    world.rank += job.nodes[static_cast<std::size_t>(job.node_rank)].first_rank;
    world.size = job.nodes.back().first_rank + job.nodes.back().ranks;
  }
  world.master_addr = job.address;
  world.master_port = job.port;
  world.timeout = std::chrono::duration_cast<std::chrono::milliseconds>(launch.comm_timeout);
  world.run_id = job.run_id;
  world.restart_count = job.restart_count;
  world.max_restarts = launch.max_restarts;
  return world;
}

RankCount ranks_here(LaunchSettings launch, const DeviceChoice& devices, const Job& job) {
  if (job.nodes.empty()) return choose_ranks(launch, devices);
  // How many was decided when the hosts met; whether that fits the devices was not.
  const bool decides = launch.nproc_per_node || !launch.num_processes.is_auto();
  const auto why = decides ? "" : choose_ranks(launch, devices).why;
  launch.nproc_per_node = job.nodes[static_cast<std::size_t>(job.node_rank)].ranks;
  return {choose_ranks(launch, devices).ranks, why};
}

/// What is dealt to the ranks of this host, each in their order; what is empty is not dealt.
struct Shares {
  const DeviceChoice& devices;
  const Placement& placement;
  const std::vector<std::string>& nics;
};

void assign(ProcessSpec& spec, const Shares& shares, std::size_t rank) {
  const auto& devices = shares.devices.devices;
  if (!devices.empty()) {
    spec.device = devices[rank % devices.size()].name;
    spec.device_name = devices[rank % devices.size()].model;
  }
  if (!shares.nics.empty()) spec.nic = shares.nics[rank % shares.nics.size()];
  if (!shares.placement.ranks.empty()) {
    spec.cpus = shares.placement.ranks[rank].cpus;
    spec.memory_node = shares.placement.ranks[rank].memory_node;
  }
}

}  // namespace

Plan make_plan(const Resolution& resolution, const Topology& topology, const Job& job) {
  const auto& launch = resolution.settings().launch;
  const auto devices =
      choose_devices(launch, job.environment, topology.nvidia, SettingNames(resolution));
  const auto count = ranks_here(launch, devices, job);
  const auto placement = place_ranks(launch, topology, devices, count.ranks);
  const auto shared = shared_environment(resolution, job.environment,
                                         threads_of(topology.cpus, placement, count.ranks));

  std::vector<std::string> pci;
  for (const auto& device : devices.devices) pci.push_back(device.pci);
  const auto nics =
      topology.layout ? nearest_nics(*topology.layout, pci) : std::vector<std::string>();

  ProcessSpec common;
  common.host = topology.host;
  common.argv = program_argv(job.program, job.module, job.environment);
  common.unset = std::make_shared<std::vector<std::string>>(shared.unset);
  common.threads = shared.threads;
  common.device = "cpu";

  const RankVariables variables(resolution, job, devices, shared.set,
                                world_of(launch, job, 0, count.ranks));

  Plan plan;
  plan.run_id = job.run_id;
  plan.run_directory = job.run_directory;
  plan.prefix_asked = resolution.entry("launch.prefix").origin.kind != Origin::Kind::built_in;
  plan.nodes = job.nodes;
  plan.unknown = job.unknown;
  plan.why_ranks = count.why;
  plan.bind_note = placement.note;
  plan.ranks.reserve(static_cast<std::size_t>(count.ranks));
  for (int rank = 0; rank < count.ranks; ++rank) {
    auto spec = common;
    spec.world = world_of(launch, job, rank, count.ranks);
    assign(spec, {devices, placement, nics}, static_cast<std::size_t>(rank));
    spec.bind_asked = !placement.ranks.empty() && launch.bind != "auto";
    spec.set = variables.of(spec.world);
    plan.ranks.push_back(std::move(spec));
  }
  wrap_ranks(resolution, plan);
  plan.stop_on_exec = launch.stop_on_exec;
  return plan;
}

}  // namespace muster::launcher
