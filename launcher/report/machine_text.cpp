#include "report/machine_text.hpp"

#include <muster/version.hpp>

#include "text.hpp"
#include "topology/cpu_list.hpp"

#include <fmt/core.h>

#include <vector>

namespace muster::launcher {
namespace {

constexpr int label_columns = 10;

/// Parts side by side, in as many lines as the width takes; `used` columns of the first are taken.
std::string joined(const std::vector<std::string>& parts, int used, const Screen& screen) {
  std::string text;
  for (std::size_t at = 0; at < parts.size(); ++at) {
    const int columns = columns_of(parts[at]);
    if (at > 0 && used + 3 + columns > screen.width) {
      text += "\n" + std::string(label_columns, ' ');
      used = label_columns;
    } else if (at > 0) {
      text += "   ";
      used += 3;
    }
    text += parts[at];
    used += columns;
  }
  return text + "\n";
}

std::string row(const std::string& label, const std::vector<std::string>& parts,
                const Screen& screen) {
  return screen.bold(padded(label, label_columns)) + joined(parts, label_columns, screen);
}

std::string counted(int count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::vector<std::string> cpu_parts(const Machine& machine) {
  const auto layout = machine.topology.layout.value_or(Layout());
  const int cores = static_cast<int>(layout.cores.size());
  const int nodes = static_cast<int>(layout.nodes.size());
  const auto& cpus = machine.topology.cpus;
  std::vector<std::string> parts;
  parts.push_back((machine.processor.empty() ? "" : machine.processor + ", ") +
                  counted(layout.packages, "socket") + ", " + counted(cores, "core") +
                  (layout.threads > cores ? ", " + counted(layout.threads, "thread") : "") +
                  (nodes > 1 ? ", " + counted(nodes, "NUMA node") : ""));
  const auto quota = cpus.quota
                         ? fmt::format("quota {:.4g} set by {}", *cpus.quota, cpus.quota_group)
                         : std::string("no quota");
  const auto by = cpus.allowed_by.empty() ? "" : " by " + cpus.allowed_by;
  parts.push_back(fmt::format("usable {} (CPUs {}{}, {})", cpus.usable(),
                              format_cpu_list(cpus.allowed), by, quota));
  std::string more;
  for (const auto& feature : machine.features) more += (more.empty() ? "" : " ") + feature;
  if (!more.empty()) parts.push_back(more);
  if (layout.cache_bytes > 0) {
    parts.push_back("L3 " + bytes_text(static_cast<double>(layout.cache_bytes)));
  }
  parts.push_back("cgroups " + machine.cgroups);
  parts.push_back("by " + layout.source);
  return parts;
}

std::vector<std::string> memory_parts(const Memory& memory) {
  const auto text = [](std::uint64_t bytes) { return bytes_text(static_cast<double>(bytes)); };
  std::vector<std::string> parts{text(memory.total) + ", usable " + text(memory.usable())};
  if (memory.limit) parts.back() += " (limit set by " + memory.limit_group + ")";
  constexpr std::uint64_t small = 512ULL << 20U;  // Data loaders and NCCL die of 64 MiB.
  parts.push_back("/dev/shm " + (memory.shared ? text(*memory.shared) : std::string("none")));
  if (memory.shared && *memory.shared < small) {
    parts.back() += " (small; a container's --shm-size sets it)";
  }
  parts.push_back("open files " + (memory.open_files == 0 ? std::string("unlimited")
                                                          : std::to_string(memory.open_files)));
  return parts;
}

std::string node_text(int node) { return node < 0 ? "" : fmt::format(", NUMA {}", node); }

std::string device_rows(const Machine& machine, const Screen& screen) {
  const auto& devices = machine.topology.nvidia.usable;
  std::string text;
  int index = 0;
  for (const auto& device : devices) {
    const auto name = device.uuid.empty() ? std::string("UUID not known yet") : device.uuid;
    text += row(index == 0 ? "devices" : "",
                {fmt::format("{} {}", index, device.model.empty() ? "NVIDIA" : device.model), name,
                 device.pci.empty() ? "PCI address unknown" : device.pci + node_text(device.node)},
                screen);
    ++index;
  }
  for (const auto& other : machine.others) {
    std::vector<std::string> parts{other.maker + " " + other.model, other.pci};
    if (other.memory_bytes > 0)
      parts.push_back(bytes_text(static_cast<double>(other.memory_bytes)));
    parts.push_back(other.note.empty() ? "not given to ranks: pick by LOCAL_RANK" : other.note);
    text += row(text.empty() ? "devices" : "", parts, screen);
  }
  if (text.empty()) text += row("devices", {"none"}, screen);
  for (const auto& note : machine.device_notes) text += row("", {note}, screen);
  return text;
}

std::vector<std::string> network_parts(const Machine& machine) {
  std::vector<std::string> parts;
  for (const auto& one : machine.network) {
    if (one.loopback || one.inside) continue;  // Every host has the first, and many the others.
    parts.push_back(one.name + " " + one.address + (one.reaches_others ? " (reaches others)" : ""));
  }
  if (parts.empty()) parts.emplace_back("loopback only");
  for (const auto& port : machine.rdma) {
    parts.push_back(fmt::format("{} {} {} {}", port.name, port.link, port.state, port.rate));
  }
  const auto outward = outward_address(machine.network);
  parts.push_back("published: 127.0.0.1" +
                  (outward.empty() ? "" : ", among several hosts " + outward));
  return parts;
}

std::string launch_rows(const LaunchForecast& launch, const Screen& screen) {
  if (!launch.fault.empty()) {
    std::string text;
    for (const auto line : split(launch.fault, '\n')) {
      text += row(text.empty() ? "launch" : "", {std::string(line)}, screen);
    }
    return text;
  }
  auto what = counted(launch.ranks, "rank") + " on " +
              (launch.devices > 0 ? counted(launch.devices, "CUDA device") : std::string("cpu")) +
              ", " + counted(launch.threads, "thread") + (launch.ranks > 1 ? " each" : "");
  if (!launch.bound.empty()) what += ", each on " + launch.bound;
  if (!launch.why.empty()) what += " (" + launch.why + ")";
  return row("launch", {what, "(change: -n, --devices, --threads, --bind)"}, screen) +
         row("ports",
             {"none of muster's own",
              "a program's own torch.distributed store listens on every interface"},
             screen);
}

}  // namespace

std::string machine_text(const MachineReport& report, const Screen& screen) {
  const auto& machine = report.machine;
  std::vector<std::string> head{fmt::format("muster {}", version)};
  if (!report.libtorch.empty()) head.push_back("LibTorch " + report.libtorch + " (this build)");
  head.push_back(fmt::format("{}, {}, {}", machine.system, machine.kernel, machine.architecture));
  return joined(head, 0, screen) + row("cpu", cpu_parts(machine), screen) +
         row("memory", memory_parts(machine.memory), screen) + device_rows(machine, screen) +
         row("network", network_parts(machine), screen) +
         row("scheduler", {machine.scheduler.empty() ? "none" : machine.scheduler}, screen) +
         launch_rows(report.launch, screen);
}

}  // namespace muster::launcher
