#include "topology/recording.hpp"

#include <muster/error.hpp>

#include "topology/cpu_list.hpp"
#include "topology/hwloc_layout.hpp"

#include <nlohmann/json.hpp>

#include <utility>

namespace muster::launcher {

using Json = nlohmann::json;

// Fields that a later version adds have their defaults in older recordings.
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(NvidiaDevice, uuid, pci, model, minor, divided,
                                                node)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(NvidiaDevices, usable, notes)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(OtherDevice, maker, model, pci, memory_bytes, node,
                                                note)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(NetworkInterface, name, address, loopback,
                                                reaches_others, inside)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(RdmaPort, name, state, rate, link)

namespace {

constexpr const char* mark = "muster_machine";
constexpr int format = 1;

std::vector<int> cpu_list(const Json& json) {
  const auto text = json.get<std::string>();
  auto numbers = parse_cpu_list(text);
  if (!numbers) throw ConfigError("'" + text + "' is no list of numbers such as 0-3,8");
  return *std::move(numbers);
}

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

template <class T>
std::optional<T> optional_of(const Json& json) {
  if (json.is_null()) return std::nullopt;
  return json.get<T>();
}

Json layout_json(const Layout& layout) {
  Json json{{"packages", layout.packages},
            {"threads", layout.threads},
            {"cache_bytes", layout.cache_bytes},
            {"source", layout.source},
            {"nodes", Json::array()},
            {"cores", Json::array()},
            {"pci", Json::array()},
            {"nics", Json::array()}};
  for (const auto& node : layout.nodes) {
    json["nodes"].push_back({{"id", node.id},
                             {"cpus", format_cpu_list(node.cpus)},
                             {"memory_bytes", node.memory_bytes}});
  }
  for (const auto& core : layout.cores) {
    json["cores"].push_back(
        {{"cpus", format_cpu_list(core.cpus)}, {"node", core.node}, {"package", core.package}});
  }
  for (const auto& place : layout.pci) {
    json["pci"].push_back(
        {{"address", place.address}, {"node", place.node}, {"above", place.above}});
  }
  for (const auto& nic : layout.nics) {
    json["nics"].push_back({{"name", nic.name}, {"pci", nic.pci}});
  }
  return json;
}

Layout layout_from(const Json& json) {
  Layout layout;
  json.at("packages").get_to(layout.packages);
  json.at("threads").get_to(layout.threads);
  json.at("cache_bytes").get_to(layout.cache_bytes);
  json.at("source").get_to(layout.source);
  for (const auto& node : json.at("nodes")) {
    layout.nodes.push_back({node.at("id"), cpu_list(node.at("cpus")), node.at("memory_bytes")});
  }
  for (const auto& core : json.at("cores")) {
    layout.cores.push_back({cpu_list(core.at("cpus")), core.at("node"), core.at("package")});
  }
  for (const auto& place : json.at("pci")) {
    layout.pci.push_back({place.at("address"), place.at("node"), place.at("above")});
  }
  for (const auto& nic : json.at("nics")) layout.nics.push_back({nic.at("name"), nic.at("pci")});
  sort_layout(layout);
  return layout;
}

Json cpus_json(const Cpus& cpus) {
  return {{"allowed", format_cpu_list(cpus.allowed)},
          {"allowed_by", cpus.allowed_by},
          {"cores", cpus.cores},
          {"quota", or_null(cpus.quota)},
          {"quota_group", cpus.quota_group}};
}

Cpus cpus_from(const Json& json) {
  Cpus cpus;
  cpus.allowed = cpu_list(json.at("allowed"));
  if (cpus.allowed.empty()) throw ConfigError("no CPU is allowed");
  json.at("allowed_by").get_to(cpus.allowed_by);
  json.at("cores").get_to(cpus.cores);
  cpus.quota = optional_of<double>(json.at("quota"));
  json.at("quota_group").get_to(cpus.quota_group);
  return cpus;
}

Json memory_json(const Memory& memory) {
  return {{"total", memory.total},
          {"limit", or_null(memory.limit)},
          {"limit_group", memory.limit_group},
          {"shared", or_null(memory.shared)},
          {"open_files", memory.open_files}};
}

Memory memory_from(const Json& json) {
  Memory memory;
  json.at("total").get_to(memory.total);
  memory.limit = optional_of<std::uint64_t>(json.at("limit"));
  json.at("limit_group").get_to(memory.limit_group);
  memory.shared = optional_of<std::uint64_t>(json.at("shared"));
  json.at("open_files").get_to(memory.open_files);
  return memory;
}

Machine machine_from(const Json& json) {
  if (json.at(mark).get<int>() != format) {
    throw ConfigError("is of format " + json.at(mark).dump() + ", and this muster reads " +
                      std::to_string(format));
  }
  Machine machine;
  json.at("host").get_to(machine.topology.host);
  json.at("system").get_to(machine.system);
  json.at("kernel").get_to(machine.kernel);
  json.at("architecture").get_to(machine.architecture);
  json.at("processor").get_to(machine.processor);
  json.at("features").get_to(machine.features);
  json.at("cgroups").get_to(machine.cgroups);
  machine.topology.cpus = cpus_from(json.at("cpus"));
  machine.topology.nodes = cpu_list(json.at("nodes"));
  machine.topology.memory_nodes = cpu_list(json.at("memory_nodes"));
  json.at("nvidia").get_to(machine.topology.nvidia);
  json.at("device_notes").get_to(machine.device_notes);
  json.at("others").get_to(machine.others);
  machine.memory = memory_from(json.at("memory"));
  json.at("network").get_to(machine.network);
  json.at("rdma").get_to(machine.rdma);
  machine.topology.layout = json.contains("hwloc")
                                ? layout_of_xml(json.at("hwloc").get<std::string>())
                                : layout_from(json.at("layout"));
  return machine;
}

[[noreturn]] void differs(const std::string& path, const std::string& what) {
  throw ConfigError("--topology " + path + ": " + what +
                    "; ranks start on this machine only: leave it out, or add --dry-run");
}

}  // namespace

std::string recording_of(const Machine& machine, const std::string& xml) {
  const auto& topology = machine.topology;
  Json json{{mark, format},
            {"host", topology.host},
            {"system", machine.system},
            {"kernel", machine.kernel},
            {"architecture", machine.architecture},
            {"processor", machine.processor},
            {"features", machine.features},
            {"cgroups", machine.cgroups},
            {"cpus", cpus_json(topology.cpus)},
            {"nodes", format_cpu_list(topology.nodes)},
            {"memory_nodes", format_cpu_list(topology.memory_nodes)},
            {"nvidia", topology.nvidia},
            {"device_notes", machine.device_notes},
            {"others", machine.others},
            {"memory", memory_json(machine.memory)},
            {"network", machine.network},
            {"rdma", machine.rdma}};
  if (!xml.empty()) {
    json["hwloc"] = xml;
  } else {
    json["layout"] = layout_json(topology.layout.value_or(Layout()));
  }
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Machine read_recording(const std::string& path) {
  constexpr std::size_t longest = 64U << 20U;
  const auto text = Sysroot().read(path, longest);
  if (!text) throw ConfigError("--topology " + path + ": no such file, or it cannot be read");
  try {
    return machine_from(Json::parse(*text));
  } catch (const Json::exception&) {
    throw ConfigError("--topology " + path + ": was not written by muster env --record FILE");
  } catch (const ConfigError& error) {
    throw ConfigError("--topology " + path + ": " + error.what());
  }
}

void check_same_machine(const std::string& path, const Topology& recorded, const Topology& here) {
  if (recorded.host != here.host) {
    differs(path, "was recorded on " + recorded.host + ", and this is " + here.host);
  }
  if (recorded.cpus.allowed != here.cpus.allowed) {
    differs(path, "has CPUs " + format_cpu_list(recorded.cpus.allowed) + ", and muster may use " +
                      format_cpu_list(here.cpus.allowed));
  }
  if (recorded.cpus.quota != here.cpus.quota) differs(path, "has another CPU quota");
  if (recorded.nvidia.usable != here.nvidia.usable) differs(path, "has other NVIDIA devices");
  if (recorded.layout->cores != here.layout->cores) differs(path, "has other cores or NUMA nodes");
}

}  // namespace muster::launcher
