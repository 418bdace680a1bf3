#include <muster/version.hpp>

#include "report/machine_text.hpp"
#include "topology/cpu_list.hpp"

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
  const auto layout = machine.topology.layout.value_or(Layout());
  const auto& cpus = machine.topology.cpus;
  return {{"model", or_null(machine.processor)},
          {"features", machine.features},
          {"sockets", layout.packages},
          {"numa_nodes", layout.nodes.size()},
          {"cores", layout.cores.size()},
          {"threads", layout.threads},
          {"l3_bytes", layout.cache_bytes},
          {"allowed", cpus.allowed},
          {"allowed_by", or_null(cpus.allowed_by)},
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
          {"divided", device.divided},
          {"numa_node", device.node < 0 ? Json(nullptr) : Json(device.node)}};
}

Json other_json(const OtherDevice& device) {
  return {{"maker", device.maker},
          {"model", or_null(device.model)},
          {"pci", or_null(device.pci)},
          {"memory_bytes", device.memory_bytes},
          {"numa_node", device.node < 0 ? Json(nullptr) : Json(device.node)},
          {"note", or_null(device.note)}};
}

/// NUMA nodes with their CPUs, and cores with theirs.
Json nodes_json(const Layout& layout) {
  auto nodes = Json::array();
  for (const auto& node : layout.nodes) {
    nodes.push_back({{"id", node.id},
                     {"cpus", format_cpu_list(node.cpus)},
                     {"memory_bytes", node.memory_bytes}});
  }
  return nodes;
}

Json launch_json(const LaunchForecast& launch) {
  if (!launch.fault.empty()) return {{"fault", launch.fault}};
  return {{"ranks", launch.ranks},
          {"devices", launch.devices},
          {"threads", launch.threads},
          {"bound_to", or_null(launch.bound)}};
}

}  // namespace

std::string machine_json(const MachineReport& report) {
  const auto& machine = report.machine;
  Json json{{"muster", version},
            {"libtorch", or_null(report.libtorch)},
            {"host", machine.topology.host},
            {"system", machine.system},
            {"kernel", machine.kernel},
            {"architecture", machine.architecture},
            {"cpu", cpu_json(machine)},
            {"numa_nodes", nodes_json(machine.topology.layout.value_or(Layout()))},
            {"memory", memory_json(machine.memory)},
            {"devices", Json::array()},
            {"other_devices", Json::array()},
            {"device_notes", machine.device_notes},
            {"network", Json::array()},
            {"rdma", Json::array()},
            {"published_on_one_host", "127.0.0.1"},
            {"published_among_hosts", or_null(outward_address(machine.network))},
            {"scheduler", or_null(machine.scheduler)},
            {"launch", launch_json(report.launch)}};
  for (const auto& device : machine.topology.nvidia.usable) {
    json["devices"].push_back(device_json(device));
  }
  for (const auto& device : machine.others) json["other_devices"].push_back(other_json(device));
  for (const auto& port : machine.rdma) {
    json["rdma"].push_back(
        {{"name", port.name}, {"state", port.state}, {"rate", port.rate}, {"link", port.link}});
  }
  for (const auto& one : machine.network) {
    json["network"].push_back({{"name", one.name},
                               {"address", one.address},
                               {"loopback", one.loopback},
                               {"reaches_others", one.reaches_others},
                               {"inside", one.inside}});
  }
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace muster::launcher
