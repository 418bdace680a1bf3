#include "planning/make_plan.hpp"

#include <muster/error.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>

#include <algorithm>

namespace muster::launcher {

using Catch::Matchers::Message;
using muster::ConfigError;
using muster::Environment;
using muster::GivenFlag;
using muster::Resolution;

namespace {

Resolution settings(std::vector<GivenFlag> flags, const Environment& environment = {}) {
  muster::Sources sources;
  sources.flags = std::move(flags);
  sources.environment = environment;
  sources.no_config = true;
  return resolve(sources);
}

Topology host(int devices, int cores = 8) {
  Topology topology;
  topology.host = "node-a";
  topology.cpus.cores = cores;
  topology.cpus.allowed = {0, 1, 2, 3, 4, 5, 6, 7};
  for (int at = 0; at < devices; ++at) {
    const auto digit = std::to_string(at);
    topology.nvidia.usable.push_back(
        {"GPU-" + digit, "0000:0" + digit + ":00.0", "H200", at, false});
  }
  return topology;
}

Job job(const Environment& environment = {}) {
  return {{"./train", "--lr", "1e-3"},
          false,
          environment,
          "cafe0001",
          "/tmp/muster-x",
          "127.0.0.1",
          4321};
}

std::string text_of(const Environment& set) {
  std::string text;
  for (const auto& [name, value] : set) text += name + "=" + value + "\n";
  return text;
}

}  // namespace

TEST_CASE("The environment of four ranks on the CPU") {
  const auto plan = make_plan(settings({{"-n", "4", ""}}), host(0), job());
  REQUIRE(plan.ranks.size() == 4);
  for (int rank = 0; rank < 4; ++rank) {
    const auto r = std::to_string(rank);
    CAPTURE(rank);
    CHECK(text_of(plan.ranks[static_cast<std::size_t>(rank)].set.whole()) ==
          "GROUP_RANK=0\n"
          "GROUP_WORLD_SIZE=1\n"
          "LOCAL_RANK=" +
              r +
              "\n"
              "LOCAL_WORLD_SIZE=4\n"
              "MASTER_ADDR=127.0.0.1\n"
              "MASTER_PORT=4321\n"
              "MUSTER_EXPORTED=MUSTER_LAUNCH_NUM_PROCESSES\n"
              "MUSTER_LAUNCH_NUM_PROCESSES=4\n"
              "MUSTER_RESTART_COUNT=0\n"
              "NODE_RANK=0\n"
              "OMP_NUM_THREADS=2\n"
              "PYTHONUNBUFFERED=1\n"
              "RANK=" +
              r +
              "\n"
              "ROLE_NAME=default\n"
              "ROLE_RANK=" +
              r +
              "\n"
              "ROLE_WORLD_SIZE=4\n"
              "TORCHELASTIC_ERROR_FILE=/tmp/muster-x/error-" +
              r +
              ".json\n"
              "TORCHELASTIC_MAX_RESTARTS=0\n"
              "TORCHELASTIC_RESTART_COUNT=0\n"
              "TORCHELASTIC_RUN_ID=cafe0001\n"
              "TORCHELASTIC_USE_AGENT_STORE=False\n"
              "TORCH_NCCL_ASYNC_ERROR_HANDLING=1\n"
              "WORLD_SIZE=4\n");
  }
  CHECK(plan.run_id == "cafe0001");
  CHECK(plan.why_ranks.empty());
  CHECK(plan.ranks[3].device == "cpu");
  CHECK(plan.ranks[3].host == "node-a");
  CHECK(plan.ranks[3].argv == std::vector<std::string>{"./train", "--lr", "1e-3"});
}

TEST_CASE("A rank reads its World back from what it is given") {
  const auto plan =
      make_plan(settings({{"-n", "3", ""}, {"--comm-timeout", "7", ""}}), host(0), job());
  for (const auto& spec : plan.ranks) {
    CHECK(muster::World::from_environment(spec.set.whole()) == spec.world);
  }
  CHECK(plan.ranks[0].set.at("MUSTER_LAUNCH_COMM_TIMEOUT") == "7");
}

TEST_CASE("What is put together once for all ranks is each one's own") {
  auto one = job();
  one.run_directory = "/run/j";
  const auto plan = make_plan(
      settings({{"-n", "12", ""}, {"--comm-timeout", "7", ""}, {"--unset-env", "ROLE_RANK", ""}}),
      host(0), one);
  for (const auto& spec : plan.ranks) {
    auto own = spec.world.to_environment();
    own.erase("ROLE_RANK");
    for (const auto& [name, value] : own) CHECK(spec.set.at(name) == value);
    CHECK_FALSE(spec.set.contains("ROLE_RANK"));
    CHECK(spec.set.at("TORCHELASTIC_ERROR_FILE") ==
          "/run/j/error-" + std::to_string(spec.world.rank) + ".json");
  }
}

TEST_CASE("All ranks see the job's devices in rank order") {
  SECTION("as many as there are ranks") {
    const auto plan = make_plan(settings({{"-n", "2", ""}}), host(8), job());
    for (const auto& spec : plan.ranks) CHECK(spec.set.at("CUDA_VISIBLE_DEVICES") == "GPU-0,GPU-1");
    CHECK(plan.ranks[1].device == "GPU-1");
    CHECK(plan.ranks[1].device_name == "H200");
  }
  SECTION("in the user's own words") {
    const Environment environment{{"CUDA_VISIBLE_DEVICES", "5,3"}};
    const auto plan = make_plan(settings({}, environment), host(8), job(environment));
    REQUIRE(plan.ranks.size() == 2);
    CHECK(plan.ranks[0].set.at("CUDA_VISIBLE_DEVICES") == "5,3");
    CHECK(plan.ranks[0].device == "5");
    CHECK(plan.ranks[1].device == "3");
  }
  SECTION("all that were listed") {
    const auto plan =
        make_plan(settings({{"-n", "1", ""}, {"--devices", "6,7", ""}}), host(8), job());
    CHECK(plan.ranks[0].set.at("CUDA_VISIBLE_DEVICES") == "GPU-6,GPU-7");
  }
  SECTION("one each if pinned") {
    const auto plan =
        make_plan(settings({{"--devices", "6,7", ""}, {"--pin-devices", {}, ""}}), host(8), job());
    CHECK(plan.ranks[0].set.at("CUDA_VISIBLE_DEVICES") == "GPU-6");
    CHECK(plan.ranks[1].set.at("CUDA_VISIBLE_DEVICES") == "GPU-7");
  }
  SECTION("shared in turn if there are too few") {
    const auto plan =
        make_plan(settings({{"-n", "3", ""}, {"--oversubscribe", {}, ""}}), host(2), job());
    CHECK(plan.ranks[2].set.at("CUDA_VISIBLE_DEVICES") == "GPU-0,GPU-1");
    CHECK(plan.ranks[2].device == "GPU-0");
  }
  SECTION("no other vendor's variable is set") {
    const auto plan = make_plan(settings({}), host(2), job());
    CHECK_FALSE(plan.ranks[0].set.contains("HIP_VISIBLE_DEVICES"));
    CHECK_FALSE(plan.ranks[0].set.contains("CUDA_DEVICE_ORDER"));
  }
  SECTION("devices without a UUID yet go by index, in PCI order") {
    auto topology = host(2);
    topology.nvidia.usable[0].uuid.clear();
    const auto plan = make_plan(settings({}), topology, job());
    CHECK(plan.ranks[0].set.at("CUDA_VISIBLE_DEVICES") == "0,1");
    CHECK(plan.ranks[0].set.at("CUDA_DEVICE_ORDER") == "PCI_BUS_ID");
  }
}

TEST_CASE("On the CPU by wish, devices are hidden and Accelerate is told") {
  const auto plan =
      make_plan(settings({{"--devices", "cpu", ""}, {"-n", "4", ""}}), host(2), job());
  CHECK(plan.ranks.size() == 4);
  CHECK(plan.ranks[0].set.at("CUDA_VISIBLE_DEVICES").empty());
  CHECK(plan.ranks[0].set.at("ACCELERATE_USE_CPU") == "true");
  const auto none = make_plan(settings({{"--devices", "cpu", ""}}), host(0), job());
  CHECK_FALSE(none.ranks[0].set.contains("CUDA_VISIBLE_DEVICES"));
}

TEST_CASE("Threads: the user's own number stays") {
  const auto threads = [](std::vector<GivenFlag> flags, const Environment& environment) {
    return make_plan(settings(std::move(flags), environment), host(0), job(environment)).ranks[0];
  };
  CHECK(threads({{"-n", "2", ""}}, {}).threads == 4);
  CHECK(threads({{"-n", "9", ""}}, {}).set.at("OMP_NUM_THREADS") == "1");
  const auto inherited = threads({{"-n", "2", ""}}, {{"OMP_NUM_THREADS", "7,2"}});
  CHECK_FALSE(inherited.set.contains("OMP_NUM_THREADS"));
  CHECK(inherited.threads == 7);
  CHECK(threads({{"--threads", "3", ""}}, {{"OMP_NUM_THREADS", "7"}}).set.at("OMP_NUM_THREADS") ==
        "3");
  CHECK(threads({{"--env", "OMP_NUM_THREADS=5", ""}}, {}).threads == 5);
}

TEST_CASE("Variables of the user's stay, unless they were an outer launcher's") {
  const Environment outer{{"RANK", "5"},
                          {"WORLD_SIZE", "99"},
                          {"LOCAL_RANK", "5"},
                          {"MASTER_PORT", "1"},
                          {"SLURM_PROCID", "0"},
                          {"PYTHONUNBUFFERED", "x"},
                          {"ACCELERATE_USE_CPU", "true"},
                          {"MUSTER_CONTROL_FD", "9"},
                          {"MUSTER_TRAIN_SEED", "3"},
                          {"MUSTER_EXPORTED", "MUSTER_TRAIN_SEED"}};
  const auto plan = make_plan(settings({{"-n", "2", ""}}, outer), host(0), job(outer));
  const auto& spec = plan.ranks[1];
  CHECK(spec.set.at("RANK") == "1");
  CHECK(spec.set.at("WORLD_SIZE") == "2");
  CHECK(spec.set.at("MASTER_PORT") == "4321");
  CHECK_FALSE(spec.set.contains("SLURM_PROCID"));
  CHECK_FALSE(spec.set.contains("PYTHONUNBUFFERED"));
  const auto removed = [&](const std::string& name) {
    return std::find(spec.unset->begin(), spec.unset->end(), name) != spec.unset->end();
  };
  CHECK(removed("MUSTER_CONTROL_FD"));
  CHECK(removed("ACCELERATE_USE_CPU"));
  CHECK(removed("ACCELERATE_GRADIENT_ACCUMULATION_STEPS"));
  CHECK(removed("MUSTER_TRAIN_SEED"));
  CHECK_FALSE(removed("SLURM_PROCID"));
  CHECK_FALSE(spec.set.contains("MUSTER_TRAIN_SEED"));
}

TEST_CASE("--env and --unset-env have the last word") {
  const auto plan = make_plan(settings({{"--env", "A=1", ""},
                                        {"--env", "PYTHONUNBUFFERED=", ""},
                                        {"--unset-env", "TORCHELASTIC_ERROR_FILE", ""},
                                        {"--unset-env", "B", ""}}),
                              host(0), job());
  const auto& spec = plan.ranks[0];
  CHECK(spec.set.at("A") == "1");
  CHECK(spec.set.at("PYTHONUNBUFFERED").empty());
  CHECK_FALSE(spec.set.contains("TORCHELASTIC_ERROR_FILE"));
  CHECK(std::find(spec.unset->begin(), spec.unset->end(), "B") != spec.unset->end());
}

TEST_CASE("The channel to the runtime cannot be removed") {
  CHECK_THROWS_MATCHES(
      make_plan(settings({{"--unset-env", "MUSTER_CONTROL_FD", ""}}), host(0), job()), ConfigError,
      Message("--unset-env MUSTER_CONTROL_FD: muster's runtime needs this; leave it out"));
}

TEST_CASE("A prefix that a person gave is for one rank too, the default one as well") {
  CHECK(make_plan(settings({{"--prefix", "[{rank}] ", ""}}), host(0), job()).prefix_asked);
  CHECK_FALSE(make_plan(settings({}), host(0), job()).prefix_asked);
}

TEST_CASE("What muster decides for each rank cannot be set by --env") {
  for (const auto* name : {"RANK", "CUDA_VISIBLE_DEVICES", "MASTER_PORT", "MUSTER_CONTROL_FD"}) {
    CAPTURE(name);
    CHECK_THROWS_AS(make_plan(settings({{"--env", std::string(name) + "=1", ""}}), host(0), job()),
                    ConfigError);
  }
  CHECK_THROWS_MATCHES(
      make_plan(settings({{"--env", "MASTER_PORT=1", ""}}), host(0), job()), ConfigError,
      Message("--env MASTER_PORT: each rank gets this from muster; leave it out, or "
              "use --master-addr and --master-port"));
}

TEST_CASE("Settings that a person gave reach the ranks, in Accelerate's words too") {
  const auto plan = make_plan(
      settings({{"--gradient-accumulation-steps", "2", ""}, {"--mixed-precision", "bf16", ""}}),
      host(0), job());
  CHECK(plan.ranks[0].set.at("MUSTER_TRAIN_GRADIENT_ACCUMULATION_STEPS") == "2");
  CHECK(plan.ranks[0].set.at("ACCELERATE_GRADIENT_ACCUMULATION_STEPS") == "2");
  CHECK(plan.ranks[0].set.at("MUSTER_TRAIN_MIXED_PRECISION") == "bf16");
  CHECK(plan.ranks[0].set.at("ACCELERATE_MIXED_PRECISION") == "bf16");
  const auto plain = make_plan(settings({}), host(0), job());
  CHECK_FALSE(plain.ranks[0].set.contains("ACCELERATE_GRADIENT_ACCUMULATION_STEPS"));
  CHECK_FALSE(plain.ranks[0].set.contains("ACCELERATE_MIXED_PRECISION"));
  CHECK_FALSE(plain.ranks[0].set.contains("MUSTER_TRAIN_SEED"));
}

TEST_CASE("Ten thousand ranks on a host of two nodes: all have their place") {
  auto topology = host(0, 64);
  auto& layout = topology.layout.emplace();
  topology.cpus.allowed.clear();
  for (int cpu = 0; cpu < 64; ++cpu) {
    topology.cpus.allowed.push_back(cpu);
    layout.cores.push_back({{cpu}, cpu / 32, cpu / 32});
  }
  layout.nodes = {{0, {}, 1}, {1, {}, 1}};
  topology.nodes = topology.memory_nodes = {0, 1};
  const auto plan = make_plan(settings({{"-n", "10000", ""}}), topology, job());
  REQUIRE(plan.ranks.size() == 10000);
  CHECK(plan.ranks[4999].memory_node == 0);
  CHECK(plan.ranks[5000].memory_node == 1);
  CHECK(plan.ranks[5000].cpus.front() == 32);
  CHECK(plan.ranks[9999].set.at("RANK") == "9999");
  CHECK(plan.ranks[9999].threads == 1);
}

TEST_CASE("A binding that a person asked for is marked, auto is not") {
  auto topology = host(0);
  auto& layout = topology.layout.emplace();
  for (int cpu = 0; cpu < 8; ++cpu) layout.cores.push_back({{cpu}, 0, 0});
  topology.nodes = {0};
  CHECK(make_plan(settings({{"--bind", "core", ""}}), topology, job()).ranks[0].bind_asked);
  const auto plan = make_plan(settings({{"-n", "2", ""}}), topology, job());
  CHECK_FALSE(plan.ranks[0].bind_asked);
  CHECK(plan.ranks[0].cpus.empty());
}

TEST_CASE("Ranks of one of several hosts know their places in the world") {
  auto one = job();
  one.nodes = {{"a", "10.0.0.1", 0, 3}, {"b", "10.0.0.2", 3, 2}};
  one.node_rank = 1;
  one.address = "10.0.0.1";
  const auto plan = make_plan(settings({{"--nnodes", "2", ""}, {"-n", "5", ""}}), host(0), one);
  REQUIRE(plan.ranks.size() == 2);
  CHECK(plan.nodes.size() == 2);
  const auto& world = plan.ranks[1].world;
  CHECK(world.rank == 4);
  CHECK(world.size == 5);
  CHECK(world.local_rank == 1);
  CHECK(world.local_size == 2);
  CHECK(world.node_rank == 1);
  CHECK(world.node_count == 2);
  CHECK(plan.ranks[1].set.at("TORCHELASTIC_ERROR_FILE") == "/tmp/muster-x/error-4.json");
  CHECK(muster::World::from_environment(plan.ranks[1].set.whole()) == world);
  CHECK(plan.find(3) == &plan.ranks[0]);
  CHECK(plan.find(2) == nullptr);
  // Whether there are devices enough is known of this host only.
  CHECK_THROWS_AS(make_plan(settings({{"--nnodes", "2", ""}, {"-n", "5", ""}}), host(1), one),
                  ConfigError);
}

TEST_CASE("The token of the launchers is not handed on") {
  const Environment environment{{"MUSTER_TOKEN", "0123456789abcdef"}};
  const auto spec = make_plan(settings({}, environment), host(0), job(environment)).ranks[0];
  CHECK(std::find(spec.unset->begin(), spec.unset->end(), "MUSTER_TOKEN") != spec.unset->end());
  CHECK_THROWS_AS(make_plan(settings({{"--env", "MUSTER_TOKEN=x", ""}}), host(0), job()),
                  ConfigError);
}

}  // namespace muster::launcher
