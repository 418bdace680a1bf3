#include "topology/machine.hpp"

#include "text.hpp"

#include <algorithm>
#include <sys/utsname.h>
#include <utility>

namespace muster::launcher {
namespace {

std::string system_name(const Sysroot& root) {
  const auto release = root.read("/etc/os-release").value_or("");
  for (const auto line : split(release, '\n')) {
    constexpr std::string_view key = "PRETTY_NAME=";
    if (!line.starts_with(key)) continue;
    auto name = line.substr(key.size());
    if (name.starts_with('"')) name.remove_prefix(1);
    if (name.ends_with('"')) name.remove_suffix(1);
    return std::string(name);
  }
  return "Linux";
}

std::vector<std::string> features_of(std::string_view flags) {
  const auto words = split(flags, ' ');
  std::vector<std::string> features;
  for (const auto& [flag, name] :
       {std::pair("avx2", "avx2"), std::pair("avx512f", "avx512"), std::pair("avx512_bf16", "bf16"),
        std::pair("amx_tile", "amx"), std::pair("asimd", "neon"), std::pair("sve", "sve"),
        std::pair("bf16", "bf16")}) {
    if (std::find(words.begin(), words.end(), flag) != words.end()) features.emplace_back(name);
  }
  return features;
}

std::string architecture_of(const Sysroot& root) {
  utsname names{};
  return root.is_live() && ::uname(&names) == 0 ? names.machine : "";
}

}  // namespace

std::string scheduler_of(const Environment& environment) {
  constexpr std::pair<const char*, const char*> marks[] = {
      {"SLURM_JOB_ID", "Slurm job"}, {"LSB_JOBID", "LSF job"},
      {"PBS_JOBID", "PBS job"},      {"FLUX_JOB_ID", "Flux job"},
      {"PRTE_LAUNCHED", "Open MPI"}, {"OMPI_COMM_WORLD_RANK", "Open MPI rank"},
      {"PMI_RANK", "MPI rank"},      {"KUBERNETES_SERVICE_HOST", "Kubernetes at"}};
  for (const auto& [variable, what] : marks) {
    const auto found = environment.find(variable);
    if (found == environment.end()) continue;
    return std::string(what) + " " + found->second + " (" + variable + ")";
  }
  return "";
}

Machine discover_machine(const Sysroot& root, const Environment& environment, NvmlUse nvml) {
  Machine machine;
  machine.system = system_name(root);
  machine.kernel = "Linux " + root.read("/proc/sys/kernel/osrelease").value_or("");
  machine.architecture = architecture_of(root);
  // The first processor stands for all; hosts with hundreds have a file of a megabyte.
  const auto processors = root.read("/proc/cpuinfo", 8192).value_or("");
  machine.processor = field(processors, "model name");
  const auto flags = field(processors, "flags");
  machine.features = features_of(flags.empty() ? field(processors, "Features") : flags);
  machine.topology = discover(root, nvml);
  machine.topology.layout = discover_layout(root);
  const Cgroups cgroups(root);
  machine.cgroups = cgroups.version();
  machine.memory = discover_memory(root, cgroups);
  machine.device_notes = machine.topology.nvidia.notes;
  if (machine.topology.nvidia.usable.empty() && machine.device_notes.empty()) {
    machine.device_notes = nvidia_without_driver(root);
  }
  machine.others = discover_others(root);
  if (root.is_live()) machine.network = discover_network();
  machine.rdma = discover_rdma(root);
  machine.scheduler = scheduler_of(environment);
  return machine;
}

}  // namespace muster::launcher
