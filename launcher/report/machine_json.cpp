#include <muster/version.hpp>

#include "report/machine_text.hpp"

#include <nlohmann/json.hpp>

namespace muster::launcher {
namespace {

using Json = nlohmann::ordered_json;

Json or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json cpu_json(const Machine& machine) {
  const auto& layout = machine.layout;
  const auto& cpus = machine.topology.cpus;
  return {{"model", or_null(machine.processor)},
          {"features", machine.features},
          {"sockets", layout.packages},
          {"numa_nodes", layout.numa_nodes},
          {"cores", layout.cores},
          {"threads", layout.threads},
          {"l3_bytes", layout.cache_bytes},
          {"allowed", cpus.allowed},
          {"allowed_cores", cpus.cores},
          {"quota", or_null(cpus.quota)},
          {"quota_group", or_null(cpus.quota_group)},
          {"usable", cpus.usable()},
          {"cgroups", machine.cgroups},
          {"source", layout.source}};
}

Json memory_json(const Memory& memory) {
  return {{"total_bytes", memory.total},
          {"usable_bytes", memory.usable()},
          {"limit_group", or_null(memory.limit_group)},
          {"shared_bytes", or_null(memory.shared)},
          {"open_files", memory.open_files == 0 ? Json(nullptr) : Json(memory.open_files)}};
}

Json device_json(const NvidiaDevice& device) {
  return {{"uuid", or_null(device.uuid)},
          {"pci", or_null(device.pci)},
          {"model", or_null(device.model)},
          {"minor", device.minor < 0 ? Json(nullptr) : Json(device.minor)},
          {"divided", device.divided}};
}

Json launch_json(const LaunchForecast& launch) {
  if (!launch.fault.empty()) return {{"fault", launch.fault}};
  return {{"ranks", launch.ranks}, {"devices", launch.devices}, {"threads", launch.threads}};
}

}  // namespace

std::string machine_json(const MachineReport& report) {
  const auto& machine = report.machine;
  Json json{{"muster", version},
            {"libtorch", or_null(report.libtorch)},
            {"host", machine.topology.host},
            {"system", machine.system},
            {"kernel", machine.kernel},
            {"architecture", report.architecture},
            {"cpu", cpu_json(machine)},
            {"memory", memory_json(machine.memory)},
            {"devices", Json::array()},
            {"device_notes", machine.device_notes},
            {"network", Json::array()},
            {"scheduler", or_null(machine.scheduler)},
            {"launch", launch_json(report.launch)}};
  for (const auto& device : machine.topology.nvidia.usable) {
    json["devices"].push_back(device_json(device));
  }
  for (const auto& one : machine.network) {
    json["network"].push_back({{"name", one.name},
                               {"address", one.address},
                               {"loopback", one.loopback},
                               {"reaches_others", one.reaches_others}});
  }
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace muster::launcher
