#include "report/machine_text.hpp"

#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>

namespace muster::launcher {

namespace {

MachineReport report() {
  MachineReport report;
  report.libtorch = "2.11.0";
  auto& machine = report.machine;
  machine.architecture = "x86_64";
  machine.system = "Debian GNU/Linux 12 (bookworm)";
  machine.kernel = "Linux 6.1.0";
  machine.processor = "AMD EPYC";
  machine.features = {"avx2", "avx512"};
  machine.cgroups = "v2";
  auto& layout = machine.topology.layout.emplace();
  layout.packages = 2;
  layout.threads = 96;
  layout.cache_bytes = 512ULL << 20U;
  layout.nodes.resize(2);
  layout.cores.resize(48);
  layout.source = "hwloc 2.9";
  machine.topology.cpus.allowed = {0, 1, 2, 3};
  machine.topology.cpus.quota = 2.5;
  machine.topology.cpus.quota_group = "/job";
  machine.topology.nvidia.usable = {{"GPU-8932f937", "0000:01:00.0", "H200", 0, false}};
  machine.device_notes = {"H200 at 0000:02:00.0: no permission to open /dev/nvidia1"};
  machine.memory.total = 64ULL << 30U;
  machine.memory.limit = 4ULL << 30U;
  machine.memory.limit_group = "/job";
  machine.memory.shared = 64ULL << 20U;
  machine.memory.open_files = 1024;
  machine.network = {{"eth0", "10.0.0.2", false, true}, {"lo", "127.0.0.1", true, false}};
  report.launch.ranks = report.launch.devices = 1;
  report.launch.threads = 2;
  return report;
}

}  // namespace

TEST_CASE("The machine on a screen of 80 columns") {
  CHECK(machine_text(report(), Screen()) ==
        "muster 0.1.0   LibTorch 2.11.0 (this build)\n"
        "          Debian GNU/Linux 12 (bookworm), Linux 6.1.0, x86_64\n"
        "cpu       AMD EPYC, 2 sockets, 48 cores, 96 threads, 2 NUMA nodes\n"
        "          usable 3 (CPUs 0-3, quota 2.5 set by /job)   avx2 avx512   L3 512 MiB\n"
        "          cgroups v2   by hwloc 2.9\n"
        "memory    64 GiB, usable 4 GiB (limit set by /job)\n"
        "          /dev/shm 64 MiB (small; a container's --shm-size sets it)\n"
        "          open files 1024\n"
        "devices   0 H200   GPU-8932f937   0000:01:00.0\n"
        "          H200 at 0000:02:00.0: no permission to open /dev/nvidia1\n"
        "network   eth0 10.0.0.2 (reaches others)\n"
        "          published: 127.0.0.1, among several hosts 10.0.0.2\n"
        "scheduler none\n"
        "launch    1 rank on 1 CUDA device, 2 threads\n"
        "          (change: -n, --devices, --threads, --bind)\n"
        "ports     none of muster's own\n"
        "          a program's own torch.distributed store listens on every interface\n");
}

TEST_CASE("A fault in the settings is what a launch would answer") {
  auto faulty = report();
  faulty.launch.fault = "muster.toml:7: unknown key 'x'\nmuster.toml:9: bad value";
  const auto text = machine_text(faulty, Screen());
  CHECK(text.ends_with(
      "launch    muster.toml:7: unknown key 'x'\n          muster.toml:9: bad value\n"));
}

TEST_CASE("The same as JSON") {
  const auto json = nlohmann::json::parse(machine_json(report()));
  CHECK(json["cpu"]["usable"] == 3);
  CHECK(json["cpu"]["quota"] == 2.5);
  CHECK(json["memory"]["usable_bytes"] == 4ULL << 30U);
  CHECK(json["devices"][0]["uuid"] == "GPU-8932f937");
  CHECK(json["network"][0]["reaches_others"] == true);
  CHECK(json["scheduler"].is_null());
  CHECK(json["launch"]["threads"] == 2);
}

}  // namespace muster::launcher
