// Ranks on their CPUs, as the kernel sees them.

#include "launcher/supervise/launch_run.hpp"
#include "topology/cpu_list.hpp"
#include "topology/cpus.hpp"

#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>

namespace muster::test {
namespace {

using launcher::parse_cpu_list;

std::vector<int> cpus_of(const LaunchRun& run, int rank) {
  const auto text = file_text(run.path("rank_" + std::to_string(rank) + ".json"));
  return parse_cpu_list(nlohmann::json::parse(text)["cpus"].get<std::string>()).value();
}

std::vector<int> allowed() {
  const launcher::Sysroot root;
  return launcher::discover_cpus(root, launcher::Cgroups(root)).allowed;
}

}  // namespace

TEST_CASE("core: each rank has cores of its own, and together they have all") {
  const auto all = allowed();
  if (all.size() < 2) SKIP("there is one CPU");
  LaunchRun run({"--devices", "cpu", "-n", "2", "--bind", "core", "--", probe_program()});
  CHECK(run.wait().code == 0);
  const auto first = cpus_of(run, 0), second = cpus_of(run, 1);
  if (first != second) {  // Else there is one core, with two hyperthreads.
    CHECK(launcher::intersect(first, second).empty());
    CHECK(first.size() + second.size() == all.size());
  }
  CHECK(launcher::intersect(first, all) == first);
}

TEST_CASE("Binding stays inside the CPUs that muster itself may use") {
  const auto one = std::to_string(allowed().back());
  for (const std::string bind : {"auto", "none", "node", "core"}) {
    CAPTURE(bind);
    LaunchRun run({"--devices", "cpu", "-n", "2", "--bind", bind, "--", probe_program()},
                  {.wrapper = {"taskset", "-c", one}});
    const auto end = run.wait();
    CHECK(end.code == 0);
    CHECK(end.err.empty());
    for (int rank = 0; rank < 2; ++rank) {
      CHECK(cpus_of(run, rank) == std::vector<int>{allowed().back()});
    }
  }
}

TEST_CASE("Threads count the CPUs that are allowed, and the user's own number stays") {
  const auto threads = [](const std::string& ranks, std::map<std::string, std::string> own) {
    LaunchRun run({"--devices", "cpu", "-n", ranks, "--", probe_program()},
                  {.environment = std::move(own),
                   .wrapper = {"taskset", "-c", std::to_string(allowed().front())}});
    CHECK(run.wait().code == 0);
    const auto rank = nlohmann::json::parse(file_text(run.path("rank_0.json")));
    return rank["env"]["OMP_NUM_THREADS"].get<std::string>();
  };
  CHECK(threads("1", {}) == "1");
  CHECK(threads("8", {}) == "1");
  CHECK(threads("2", {{"OMP_NUM_THREADS", "7"}}) == "7");
}

}  // namespace muster::test
