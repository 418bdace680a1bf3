#pragma once

#include "launcher/temporary_folder.hpp"
#include "topology/sysroot.hpp"

#include <string>
#include <vector>

namespace muster::test {

/// A small tree of /proc, /sys and /dev files, as this host or another might have them.
class RecordedMachine {
 public:
  void file(const std::string& path, const std::string& text) const { folder_.write(path, text); }
  launcher::Sysroot root() const { return launcher::Sysroot(folder_.path()); }

  /// `count` CPUs, all allowed; `siblings` of them share a core, as "0,4" for four cores of eight
  /// CPUs.
  void cpus(int count, int siblings = 1) const {
    const auto all = "0-" + std::to_string(count - 1);
    file("/sys/devices/system/cpu/online", all + "\n");
    affinity(all);
    const int cores = count / siblings;
    for (int cpu = 0; cpu < count; ++cpu) {
      std::string list;
      for (int one = cpu % cores; one < count; one += cores) {
        list += (list.empty() ? "" : ",") + std::to_string(one);
      }
      file("/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/thread_siblings_list",
           list + "\n");
    }
  }
  void affinity(const std::string& list) const {
    file("/proc/self/status",
         "Name:\tmuster\nCpus_allowed:\tff\nCpus_allowed_list:\t" + list + "\n");
  }

  /// Version 2 only, mounted where it usually is.
  void cgroup_v2(const std::string& group) const {
    file("/proc/self/cgroup", "0::" + group + "\n");
    file("/proc/self/mountinfo",
         "22 1 0:21 / /proc rw,relatime - proc proc rw\n"
         "30 1 0:26 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n");
  }

  /// An NVIDIA device with its driver's folder and its device file.
  void gpu(int minor, const std::string& pci, const std::string& uuid,
           const std::string& model = "NVIDIA H200") const {
    file("/proc/driver/nvidia/gpus/" + pci + "/information",
         "Model: \t\t " + model + "\nIRQ:   \t\t 16\nGPU UUID: \t " + uuid +
             "\nVideo BIOS: \t 96.00\nBus Type: \t PCIe\nBus Location: \t " + pci +
             "\nDevice Minor: \t " + std::to_string(minor) + "\nGPU Excluded:\t No\n");
    file("/dev/nvidia" + std::to_string(minor), "");
  }

 private:
  TemporaryFolder folder_;
};

}  // namespace muster::test
