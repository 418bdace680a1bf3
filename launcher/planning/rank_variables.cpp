#include "planning/rank_variables.hpp"

#include <muster/contract.hpp>

#include "planning/rank_environment.hpp"

namespace muster::launcher {
namespace {

/// A variable that the user had removed stays so.
void replace(Variables& set, const std::string& name, std::string value) {
  if (set.contains(name)) set.set(name, std::move(value));
}

}  // namespace

RankVariables::RankVariables(const Resolution& resolution, const Job& job,
                             const DeviceChoice& devices, const Environment& shared,
                             const World& world)
    : job_(job), devices_(devices) {
  auto common = world.to_environment();
  // Ranks know the default themselves; an inner launcher would take it for a person's wish.
  if (resolution.entry("launch.comm_timeout").origin.kind == Origin::Kind::built_in)
    common.erase("MUSTER_LAUNCH_COMM_TIMEOUT");
  common["TORCHELASTIC_ERROR_FILE"] = error_file(world);
  if (job.collect) common[std::string(contract::check_folder)] = job.run_directory;
  common.merge(device_environment(devices, world.local_size, world.local_rank));
  for (const auto& name : resolution.settings().launch.unset_env) common.erase(name);
  common.insert(shared.begin(), shared.end());
  common_ = std::make_shared<Environment>(std::move(common));
}

Variables RankVariables::of(const World& world) const {
  Variables set(common_);
  const auto rank = std::to_string(world.rank);
  replace(set, "RANK", rank);
  replace(set, "ROLE_RANK", rank);
  replace(set, "LOCAL_RANK", std::to_string(world.local_rank));
  replace(set, "TORCHELASTIC_ERROR_FILE", error_file(world));
  if (devices_.pinned) {
    for (const auto& [name, value] :
         device_environment(devices_, world.local_size, world.local_rank))
      replace(set, name, value);
  }
  return set;
}

std::string RankVariables::error_file(const World& world) const {
  return job_.run_directory + "/error-" + std::to_string(world.rank) + ".json";
}

}  // namespace muster::launcher
