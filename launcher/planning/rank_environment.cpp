#include "planning/rank_environment.hpp"

#include <muster/contract.hpp>
#include <muster/error.hpp>
#include <muster/setting_names.hpp>

#include "text.hpp"

#include <algorithm>

namespace muster::launcher {
namespace {

bool is_from_user(const Resolution& resolution, std::string_view id) {
  return resolution.entry(id).origin.kind != Origin::Kind::built_in;
}

/// "--env RANK", "muster.toml:3: launch.env.RANK"
std::string given(const SettingNames& names, const std::string& id, const std::string& variable) {
  const auto name = names.of(id, variable);
  return name.ends_with("." + variable) ? name : name + " " + variable;
}

/// Names that `--env` must not set, and what sets them instead.
void refuse_contract_names(const std::map<std::string, std::string>& env,
                           const SettingNames& names) {
  const auto contract = World().to_environment();
  for (const auto& [name, value] : env) {
    if (name == "CUDA_VISIBLE_DEVICES") {
      throw ConfigError(given(names, "launch.env", name) +
                        ": each rank gets this from muster; use --devices");
    }
    const auto& own = contract::of_a_rank;
    const bool ours =
        std::find(own.begin(), own.end(), name) != own.end() || name == contract::token;
    if (!ours && !contract.contains(name) && name != "TORCHELASTIC_ERROR_FILE") continue;
    throw ConfigError(
        given(names, "launch.env", name) + ": each rank gets this from muster; leave it out" +
        (name.starts_with("MASTER_") ? ", or use --master-addr and --master-port" : ""));
  }
}

/// Names that `--unset-env` must not remove: the channel to our runtime is no variable of a person.
void refuse_channel_names(const std::vector<std::string>& unset, const SettingNames& names) {
  const auto& own = contract::of_a_rank;
  for (const auto& name : unset) {
    if (std::find(own.begin(), own.end(), name) == own.end()) continue;
    throw ConfigError(given(names, "launch.unset_env", name) +
                      ": muster's runtime needs this; leave it out");
  }
}

constexpr const char* accelerate_names[] = {"ACCELERATE_GRADIENT_ACCUMULATION_STEPS",
                                            "ACCELERATE_USE_CPU", "ACCELERATE_MIXED_PRECISION"};

/// What programs for Accelerate read, where a person decided it.
void add_accelerate(const Resolution& resolution, Environment& set) {
  const auto& settings = resolution.settings();
  if (is_from_user(resolution, "train.gradient_accumulation_steps")) {
    set[accelerate_names[0]] = std::to_string(settings.train.gradient_accumulation_steps);
  }
  if (is_from_user(resolution, "train.mixed_precision")) {
    set[accelerate_names[2]] = settings.train.mixed_precision;
  }
  if (settings.launch.devices == std::vector<std::string>{"cpu"}) set[accelerate_names[1]] = "true";
}

/// The first number of "4" or "4,2" (nested levels).
int threads_in(const std::string& value, int otherwise) {
  const auto levels = split(value, ',');
  if (levels.empty()) return otherwise;
  return to_number<int>(trim(levels.front())).value_or(otherwise);
}

}  // namespace

SharedEnvironment shared_environment(const Resolution& resolution, const Environment& environment,
                                     int computed_threads) {
  const auto& launch = resolution.settings().launch;
  const SettingNames names(resolution);
  refuse_contract_names(launch.env, names);
  refuse_channel_names(launch.unset_env, names);
  SharedEnvironment shared;
  auto& set = shared.set;
  const auto unless_set = [&](const std::string& name, const std::string& value) {
    if (!environment.contains(name)) set[name] = value;
  };
  unless_set("TORCH_NCCL_ASYNC_ERROR_HANDLING", "1");
  unless_set("PYTHONUNBUFFERED", "1");
  unless_set("OMP_NUM_THREADS", std::to_string(computed_threads));
  if (launch.threads.value) set["OMP_NUM_THREADS"] = std::to_string(*launch.threads.value);
  add_accelerate(resolution, set);

  shared.unset = resolution.inherited();
  // An outer launch decided these for its own ranks.
  if (environment.contains(std::string(contract::exported))) {
    shared.unset.insert(shared.unset.end(), std::begin(accelerate_names),
                        std::end(accelerate_names));
  }
  shared.unset.insert(shared.unset.end(), contract::of_a_rank.begin(), contract::of_a_rank.end());
  shared.unset.insert(shared.unset.end(), contract::of_launchers.begin(),
                      contract::of_launchers.end());
  set.merge(resolution.exported());
  for (const auto& name : launch.unset_env) {
    set.erase(name);
    shared.unset.push_back(name);
  }
  for (const auto& [name, value] : launch.env) set[name] = value;

  const auto inherited = environment.find("OMP_NUM_THREADS");
  if (const auto threads = set.find("OMP_NUM_THREADS"); threads != set.end()) {
    shared.threads = threads_in(threads->second, computed_threads);
  } else if (inherited != environment.end()) {
    shared.threads = threads_in(inherited->second, computed_threads);
  }
  return shared;
}

Environment device_environment(const DeviceChoice& choice, int ranks, int local_rank) {
  if (choice.hide) return {{"CUDA_VISIBLE_DEVICES", ""}};
  if (choice.devices.empty()) return {};
  std::string names;
  const auto count = choice.devices.size();
  if (choice.pinned) {
    names = choice.devices[static_cast<std::size_t>(local_rank) % count].name;
  } else {
    // Devices that no rank will use stay hidden, unless the user listed them.
    const auto shown = choice.listed ? count : std::min(count, static_cast<std::size_t>(ranks));
    for (std::size_t at = 0; at < shown; ++at)
      names += (at > 0 ? "," : "") + choice.devices[at].name;
  }
  Environment set{{"CUDA_VISIBLE_DEVICES", names}};
  if (choice.pci_order) set["CUDA_DEVICE_ORDER"] = "PCI_BUS_ID";
  return set;
}

}  // namespace muster::launcher
