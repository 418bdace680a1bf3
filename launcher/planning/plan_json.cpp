#include <muster/contract.hpp>
#include <muster/show.hpp>
#include <muster/version.hpp>

#include "planning/dry_run.hpp"
#include "topology/cpu_list.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace muster::launcher {
namespace {

using Json = nlohmann::ordered_json;

Json or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

Json device_json(const ProcessSpec& spec) {
  if (spec.device == "cpu") return nullptr;
  return {{"name", spec.device}, {"model", or_null(spec.device_name)}, {"nic", or_null(spec.nic)}};
}

Json variables_json(const ProcessSpec& spec) {
  auto variables = Json::object();
  for (const auto& [name, value] : spec.set.whole()) {
    if (!is_decided_at_start(spec, name) && !is_secret_name(name)) variables[name] = value;
  }
  return variables;
}

Json rank_json(const ProcessSpec& spec, const Cpus& cpus) {
  return {{"rank", spec.world.rank},
          {"local_rank", spec.world.local_rank},
          {"host", spec.host},
          {"argv", spec.argv},
          {"device", device_json(spec)},
          {"cpus", format_cpu_list(cpus_of(spec, cpus))},
          {"bound", !spec.cpus.empty()},
          {"memory_node", spec.memory_node < 0 ? Json(nullptr) : Json(spec.memory_node)},
          {"threads", spec.threads},
          {"set", variables_json(spec)}};
}

/// The names of a rank's variables for which `wanted` is true.
template <class Predicate>
std::vector<std::string> names(const ProcessSpec& spec, Predicate wanted) {
  std::vector<std::string> chosen;
  for (const auto& [name, value] : spec.set.whole()) {
    if (wanted(name)) chosen.push_back(name);
  }
  return chosen;
}

}  // namespace

std::string plan_json(const DryRun& run) {
  const auto& first = run.plan.ranks.front();
  auto later = names(first, [&](const auto& name) { return is_decided_at_start(first, name); });
  for (const auto name : contract::of_a_rank) {
    if (!first.set.contains(std::string(name)) && name != contract::exported)
      later.emplace_back(name);
  }
  auto unset = removed_variables(first, run.environment);
  // What is decided at the start is not removed for good.
  std::erase_if(unset, [&](const auto& name) {
    return std::find(later.begin(), later.end(), name) != later.end();
  });
  Json json{{"muster", version},
            {"why_ranks", or_null(run.plan.why_ranks)},
            {"unknown", or_null(run.plan.unknown)},
            {"stop_on_exec", run.plan.stop_on_exec},
            {"ranks", Json::array()},
            {"unset", unset},
            {"decided_at_start", later},
            {"hidden", names(first, [](const auto& name) { return is_secret_name(name); })}};
  for (const auto& spec : run.plan.ranks) json["ranks"].push_back(rank_json(spec, run.cpus));
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace muster::launcher
