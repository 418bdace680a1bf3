#include "planning/plan_text.hpp"

#include "planning/make_plan.hpp"

#include <catch2/catch_test_macros.hpp>

namespace muster::launcher {

using muster::Environment;

namespace {

std::string text_of(std::vector<muster::GivenFlag> flags, Topology topology,
                    const Environment& environment, const Screen& screen = Screen()) {
  muster::Sources sources;
  sources.flags = std::move(flags);
  sources.environment = environment;
  sources.no_config = true;
  const auto resolution = resolve(sources);
  topology.host = "node-a";
  topology.cpus.allowed = {0, 1, 2, 3, 4, 5, 6, 7};
  topology.cpus.cores = 8;
  const Job job{
      {"./train", "--lr", "1e-3", "it's"}, false, environment, "cafe0001", "", "127.0.0.1", 0};
  return plan_text(make_plan(resolution, topology, job), resolution.settings().train, topology.cpus,
                   environment, screen);
}

}  // namespace

TEST_CASE("The plan of two ranks on two devices") {
  Topology topology;
  topology.nvidia.usable = {{"GPU-8932f937", "0000:01:00.0", "H200", 0, false},
                            {"GPU-0c5d2e11", "0000:02:00.0", "H200", 1, false}};
  const Environment environment{{"MUSTER_CONTROL_FD", "9"}, {"PYTHONUNBUFFERED", "1"}};
  CHECK(
      text_of({{"--env", "MY_TOKEN=secret", ""}, {"--strategy", "ddp", ""}}, topology,
              environment) ==
      R"(job       2 ranks on 1 host, strategy ddp   (2 ranks, one for each CUDA device (change: -n, --devices))
program   ./train --lr 1e-3 'it'\''s'
 rank  node    device                    cpus  threads
    0  node-a  cuda GPU-8932f937 (H200)  0-7   4
    1  node-a  cuda GPU-0c5d2e11 (H200)  0-7   4
added to the environment of every rank
  CUDA_VISIBLE_DEVICES=GPU-8932f937,GPU-0c5d2e11  GROUP_RANK=0
  GROUP_WORLD_SIZE=1  LOCAL_WORLD_SIZE=2  MASTER_ADDR=127.0.0.1
  MASTER_PORT=(free port)  MUSTER_EXPORTED=MUSTER_TRAIN_STRATEGY
  MUSTER_RESTART_COUNT=0  MUSTER_TRAIN_STRATEGY=ddp  MY_TOKEN=(hidden)
  NODE_RANK=0  OMP_NUM_THREADS=4  ROLE_NAME=default  ROLE_WORLD_SIZE=2
  TORCHELASTIC_MAX_RESTARTS=0  TORCHELASTIC_RESTART_COUNT=0
  TORCHELASTIC_RUN_ID=cafe0001  TORCHELASTIC_USE_AGENT_STORE=False
  TORCH_NCCL_ASYNC_ERROR_HANDLING=1  WORLD_SIZE=2
and of each
  LOCAL_RANK=0 ... 1  RANK=0 ... 1  ROLE_RANK=0 ... 1
  TORCHELASTIC_ERROR_FILE=(private)/error-0.json ... (private)/error-1.json
and by the running launcher, for programs with muster's runtime
  MUSTER_CONTROL_FD  MUSTER_CONTROL_MEMORY_FD  MUSTER_CONTROL_SLOT
  MUSTER_MASTER_FD  MUSTER_PREFIXED
removed from it
  MUSTER_CONTROL_FD
)");
}

TEST_CASE("Words are quoted so that a shell takes them back") {
  const auto text = text_of({{"-n", "1", ""}, {"--env", "A=a b", ""}, {"--env", "B=", ""}}, {}, {});
  CHECK(text.find("  A='a b'  B=''  ") != text.npos);
}

}  // namespace muster::launcher
