#include "wizard/rules.hpp"

#include <muster/error.hpp>

#include "devices/choose_devices.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <optional>

namespace muster::launcher {
namespace {

/// The devices that the settings mean here; nothing if this machine does not have them.
std::optional<int> device_count(const Interview& interview, const LaunchSettings& launch) {
  try {
    const auto choice =
        choose_devices(launch, interview.facts().environment, interview.facts().topology.nvidia);
    return static_cast<int>(choice.devices.size());
  } catch (const ConfigError&) {
    return std::nullopt;
  }
}

int devices_here(const Interview& interview) {
  return device_count(interview, LaunchSettings()).value_or(0);
}

int devices_chosen(const Interview& interview) {
  return device_count(interview, interview.settings().launch).value_or(0);
}

std::optional<int> ranks_of(const LaunchSettings& launch) {
  if (launch.nproc_per_node) return launch.nproc_per_node->value;
  return launch.num_processes.value;
}

// --- devices -------------------------------------------------------------------------------------

bool has_devices(const Interview& interview) { return devices_here(interview) > 0; }

std::string explain_devices(const Interview& interview) {
  const int count = devices_here(interview);
  if (count == 1) return "auto or cuda: the one there is; cpu: none.";
  return fmt::format("auto or cuda: all {}; cpu: none; 0,1: these two, in this order.", count);
}

void check_devices(const Interview& interview, const Value& value) {
  LaunchSettings launch = interview.settings().launch;
  launch.devices = std::get<std::vector<std::string>>(value);
  choose_devices(launch, interview.facts().environment, interview.facts().topology.nvidia);
}

// --- ranks ---------------------------------------------------------------------------------------

/// As many as devices, where the file says more than these can take.
bool has_room(const Interview& interview, const Value& ranks) {
  const auto* number = std::get_if<std::int64_t>(&ranks);
  const int devices = devices_chosen(interview);
  return number == nullptr || devices == 0 || *number <= devices ||
         interview.settings().launch.oversubscribe;
}

Value offer_ranks(const Interview& interview) {
  for (const char* id : {"launch.num_processes", "launch.nproc_per_node"}) {
    const auto found = interview.present().find(find_setting_by_id(id));
    const bool there = found != interview.present().end();
    if (there && has_room(interview, found->second)) return found->second;
  }
  return std::int64_t{std::max(1, devices_chosen(interview))};
}

std::string explain_ranks(const Interview& interview) {
  if (const int devices = devices_chosen(interview); devices > 0) {
    return fmt::format("Processes that train together; one a device is usual: {}.", devices);
  }
  const bool one = interview.facts().topology.cpus.cores == 1;
  return one ? "Processes that train together; there is one core for them."
             : "Processes that train together; one uses all cores, more divide them.";
}

// --- more ranks than devices
// -----------------------------------------------------------------------

bool is_crowded(const Interview& interview) {
  const auto ranks = ranks_of(interview.settings().launch);
  const int devices = devices_chosen(interview);
  return ranks && devices > 0 && *ranks > devices;
}

std::string explain_oversubscribe(const Interview& interview) {
  return fmt::format(
      "{} ranks on {} would share.", ranks_of(interview.settings().launch).value_or(0),
      devices_chosen(interview) == 1 ? "one device"
                                     : fmt::format("{} devices", devices_chosen(interview)));
}

void check_oversubscribe(const Interview& interview, const Value& value) {
  if (std::get<bool>(value)) return;
  throw ConfigError(
      fmt::format("no more ranks than {}, then, or other devices", devices_chosen(interview)));
}

// --- precision
// ------------------------------------------------------------------------------------

/// bf16 on devices, which compute in it several times faster; a file that is there stays as it is.
Value offer_precision(const Interview& interview) {
  const auto* row = find_setting_by_id("train.mixed_precision");
  const auto said = interview.present().find(row);
  if (said != interview.present().end()) return said->second;
  const bool faster = interview.present().empty() && devices_chosen(interview) > 0;
  return faster ? Value(std::string("bf16")) : row->default_value();
}

std::string explain_precision(const Interview&) {
  return "no: fp32. bf16: faster, same memory for weights. fp16: for devices without bf16.";
}

// --- the rest ------------------------------------------------------------------------------------

bool has_several_ranks(const Interview& interview) {
  return ranks_of(interview.settings().launch).value_or(2) > 1;
}

constexpr QuestionRule rules[] = {
    {.id = "launch.devices",
     .open = has_devices,
     .explain = explain_devices,
     .check = check_devices},
    {.id = "launch.num_processes", .offer = offer_ranks, .explain = explain_ranks},
    {.id = "launch.oversubscribe",
     .open = is_crowded,
     .explain = explain_oversubscribe,
     .check = check_oversubscribe,
     .undoes = "launch.num_processes"},
    {.id = "train.mixed_precision", .offer = offer_precision, .explain = explain_precision},
    {.id = "launch.log_dir", .open = has_several_ranks},
};

}  // namespace

std::span<const QuestionRule> question_rules() { return rules; }

}  // namespace muster::launcher
