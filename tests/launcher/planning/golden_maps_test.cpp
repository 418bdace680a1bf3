// Which rank runs where on machines that were recorded: `machines/*.json`.

#include "launcher/commands/muster_run.hpp"

#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>
#include <support/paths.hpp>

using nlohmann::json;

namespace muster::test {
namespace {

using Words = std::vector<std::string>;

std::string machine(const std::string& name) {
  return std::string(source_dir) + "/tests/launcher/machines/" + name + ".json";
}

/// Not in an expression of CHECK, which would take it for a fault. Under a sanitizer the copy that
/// is built with the program is not found.
void need_hwloc() {
  const auto end =
      run_muster({"launch", "--topology", machine("eight_gpus"), "--dry-run", "--", "./train"});
  if (end.err.find("install libhwloc") != std::string::npos) SKIP("hwloc is not installed");
}

json plan_on(const std::string& name, const Words& flags,
             const std::map<std::string, std::string>& environment = {}) {
  Words words{"launch", "--topology", machine(name), "--dry-run=json"};
  words.insert(words.end(), flags.begin(), flags.end());
  words.insert(words.end(), {"--", "./train"});
  const auto end = run_muster(words, environment);
  INFO(end.err);
  REQUIRE(end.code == 0);
  return json::parse(end.out);
}

/// A line a rank: device, CPUs, memory node, network device, threads.
std::string map_on(const std::string& name, const Words& flags,
                   const std::map<std::string, std::string>& environment = {}) {
  std::string text;
  const auto plan = plan_on(name, flags, environment);
  for (const auto& rank : plan["ranks"]) {
    const auto& device = rank["device"];
    text += (device.is_null() ? "cpu" : device["name"].get<std::string>()) + " " +
            rank["cpus"].get<std::string>() + (rank["bound"] == true ? "" : " free");
    if (!rank["memory_node"].is_null()) text += " node " + rank["memory_node"].dump();
    if (!device.is_null() && !device["nic"].is_null())
      text += " " + device["nic"].get<std::string>();
    text += " x" + rank["threads"].dump() + "\n";
  }
  return text;
}

}  // namespace

TEST_CASE("Eight devices, two NUMA nodes, eight network devices") {
  need_hwloc();
  CHECK(map_on("eight_gpus", {}) ==
        "GPU-00000000 0-7,16-23 node 0 mlx5_0 x2\n"
        "GPU-00000001 0-7,16-23 node 0 mlx5_1 x2\n"
        "GPU-00000002 0-7,16-23 node 0 mlx5_2 x2\n"
        "GPU-00000003 0-7,16-23 node 0 mlx5_3 x2\n"
        "GPU-00000004 8-15,24-31 node 1 mlx5_4 x2\n"
        "GPU-00000005 8-15,24-31 node 1 mlx5_5 x2\n"
        "GPU-00000006 8-15,24-31 node 1 mlx5_6 x2\n"
        "GPU-00000007 8-15,24-31 node 1 mlx5_7 x2\n");
  CHECK(map_on("eight_gpus", {"--devices", "6,1,2", "--bind", "core"}) ==
        "GPU-00000006 8-15,24-31 node 1 mlx5_6 x4\n"
        "GPU-00000001 0-3,16-19 node 0 mlx5_0 x4\n"
        "GPU-00000002 4-7,20-23 node 0 mlx5_2 x4\n");
  CHECK(map_on("eight_gpus", {}, {{"CUDA_VISIBLE_DEVICES", "5,GPU-00000002"}}) ==
        "5 8-15,24-31 node 1 mlx5_4 x8\n"
        "GPU-00000002 0-7,16-23 node 0 mlx5_2 x8\n");
  CHECK(map_on("eight_gpus", {"--devices", "cpu", "-n", "2"}) ==
        "cpu 0-7,16-23 node 0 x8\n"
        "cpu 8-15,24-31 node 1 x8\n");
  CHECK(map_on("eight_gpus", {"-n", "1"}) == "GPU-00000000 0-31 free mlx5_0 x16\n");
}

TEST_CASE("More ranks than devices are refused with both numbers, unless they may share") {
  need_hwloc();
  const auto refused = run_muster(
      {"launch", "--topology", machine("decoy_display"), "--dry-run", "-n", "5", "--", "x"});
  CHECK(refused.code == 2);
  CHECK(refused.err.starts_with("muster: 5 ranks were asked for, and there are 4 CUDA devices"));
  CHECK(plan_on("decoy_display", {"-n", "5", "--oversubscribe"})["ranks"][4]["device"]["name"] ==
        "GPU-00000000");
}

TEST_CASE("Seven instances of a divided device") {
  need_hwloc();
  const auto plan = plan_on("instances", {});
  REQUIRE(plan["ranks"].size() == 7);
  for (const auto& rank : plan["ranks"]) {
    CHECK(rank["set"]["CUDA_VISIBLE_DEVICES"] == rank["device"]["name"]);
    CHECK(rank["cpus"] == "0-7,16-23");
    CHECK(rank["threads"] == 1);
  }
  CHECK(plan["ranks"][6]["device"]["name"] == "MIG-00000006");
}

TEST_CASE("Four devices beside a board's display, which is none; one tells no node") {
  need_hwloc();
  CHECK(map_on("decoy_display", {}) ==
        "GPU-00000000 0-7,16-23 node 0 x4\n"
        "GPU-00000001 0-7,16-23 node 0 x4\n"
        "GPU-00000002 8-15,24-31 node 1 x4\n"
        "GPU-00000003 0-31 free x4\n");
}

TEST_CASE("A container with more of one node than of the other, and a quota") {
  need_hwloc();
  CHECK(map_on("uneven_cpus", {"-n", "4"}) ==
        "cpu 0-5,16-21 node 0 x2\n"
        "cpu 0-5,16-21 node 0 x2\n"
        "cpu 0-5,16-21 node 0 x2\n"
        "cpu 8-9,24-25 node 1 x2\n");
  CHECK(map_on("uneven_cpus", {"-n", "8", "--bind", "core"}) ==
        "cpu 0,16 node 0 x1\n"
        "cpu 1,17 node 0 x1\n"
        "cpu 2,18 node 0 x1\n"
        "cpu 3,19 node 0 x1\n"
        "cpu 4,20 node 0 x1\n"
        "cpu 5,21 node 0 x1\n"
        "cpu 8,24 node 1 x1\n"
        "cpu 9,25 node 1 x1\n");
  CHECK(map_on("uneven_cpus", {}) == "cpu 0-5,8-9,16-21,24-25 free x8\n");
}

TEST_CASE("A machine that tells nothing") {
  need_hwloc();
  CHECK(map_on("bare", {}) == "cpu 0 free x1\n");
  CHECK(map_on("bare", {"-n", "3"}) == "cpu 0 free x1\ncpu 0 free x1\ncpu 0 free x1\n");
}

TEST_CASE("A recorded machine is shown by muster env") {
  need_hwloc();
  const auto end = run_muster({"env", "--topology", machine("decoy_display")});
  CHECK(end.code == 0);
  CHECK(end.out.find("2 sockets, 16 cores, 32 threads, 2 NUMA nodes") != end.out.npos);
  CHECK(end.out.find("0000:99:00.0, NUMA 1") != end.out.npos);
  CHECK(end.out.find("0000:03:00.0") == end.out.npos);
  CHECK(end.out.find("4 ranks on 4 CUDA devices, 4 threads each, each on a NUMA node") !=
        end.out.npos);
}

TEST_CASE("Ranks start on the machine that was recorded only") {
  const auto other = run_muster({"launch", "--topology", machine("bare"), "--", "true"});
  CHECK(other.code == 2);
  CHECK(other.out.empty());
  CHECK(other.err.find("machines/bare.json: was recorded on localhost, and this is ") !=
        other.err.npos);
  CHECK(other.err.ends_with("leave it out, or add --dry-run\n"));

  const TemporaryFolder folder;
  const auto recorded = run_muster({"env", "--record", "here.json"}, folder);
  CHECK(recorded.code == 0);
  CHECK(recorded.out.find("muster launch --topology here.json --dry-run") != recorded.out.npos);
  const auto same = run_muster(
      {"launch", "--devices", "cpu", "--topology", "here.json", "-n", "1", "--", "echo", "ran"},
      folder);
  CHECK(same.err.empty());
  CHECK(same.out == "ran\n");
}

TEST_CASE("A file that is no recording is named") {
  need_hwloc();
  const TemporaryFolder folder;
  folder.write("empty.json", "{}");
  folder.write("text", "hello");
  folder.write("later.json", "{\"muster_machine\": 2}");
  folder.write("broken.json", "{\"muster_machine\": 1, \"host\": 7}");
  const auto error = [&](const std::string& name) {
    const auto end = run_muster({"launch", "--topology", name, "--dry-run", "--", "x"}, folder);
    CHECK(end.code == 2);
    CHECK(end.out.empty());
    return end.err;
  };
  for (const auto* name : {"empty.json", "text", "broken.json"}) {
    CHECK(error(name) == std::string("muster: --topology ") + name +
                             ": was not written by muster env --record FILE\n");
  }
  CHECK(error("later.json") ==
        "muster: --topology later.json: is of format 2, and this muster reads 1\n");
  CHECK(error("absent.json") ==
        "muster: --topology absent.json: no such file, or it cannot be read\n");
  CHECK(run_muster({"env", "--record", "/no/such/folder/f"}).code == 2);
}

}  // namespace muster::test
