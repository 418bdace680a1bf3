#include <muster/world.hpp>

#include "config/support.hpp"

#include <catch2/catch_test_macros.hpp>

#include <cstdlib>

namespace muster {

namespace {

World some_world() {
  World world;
  world.rank = 5;
  world.size = 8;
  world.local_rank = 1;
  world.local_size = 4;
  world.node_rank = 1;
  world.node_count = 2;
  world.master_addr = "10.0.0.2";
  world.master_port = 29500;
  world.timeout = std::chrono::milliseconds(1500);
  world.restart_count = 2;
  world.max_restarts = 3;
  world.run_id = "job-7";
  return world;
}

std::string fault_with(const Environment& changes) {
  Environment environment = some_world().to_environment();
  for (const auto& [name, value] : changes) environment[name] = value;
  return test::fault_of([&] { World::from_environment(environment); });
}

std::string fault_without(const char* name) {
  Environment environment = some_world().to_environment();
  environment.erase(name);
  return test::fault_of([&] { World::from_environment(environment); });
}

}  // namespace

TEST_CASE("a World written to an environment reads back") {
  CHECK(World::from_environment(some_world().to_environment()) == some_world());
  CHECK(World::from_environment(World{}.to_environment()) == World{});
  for (int nodes = 1; nodes <= 3; ++nodes) {
    for (int local = 1; local <= 3; ++local) {
      for (int rank = 0; rank < nodes * local; ++rank) {
        World world;
        world.rank = rank;
        world.size = nodes * local;
        world.local_rank = rank % local;
        world.local_size = local;
        world.node_rank = rank / local;
        world.node_count = nodes;
        world.master_port = 1;
        CHECK(World::from_environment(world.to_environment()) == world);
      }
    }
  }
}

TEST_CASE("all of torchelastic's variables are written") {
  CHECK(some_world().to_environment() == Environment{{"RANK", "5"},
                                                     {"WORLD_SIZE", "8"},
                                                     {"LOCAL_RANK", "1"},
                                                     {"LOCAL_WORLD_SIZE", "4"},
                                                     {"GROUP_RANK", "1"},
                                                     {"GROUP_WORLD_SIZE", "2"},
                                                     {"NODE_RANK", "1"},
                                                     {"ROLE_RANK", "5"},
                                                     {"ROLE_WORLD_SIZE", "8"},
                                                     {"ROLE_NAME", "default"},
                                                     {"MASTER_ADDR", "10.0.0.2"},
                                                     {"MASTER_PORT", "29500"},
                                                     {"TORCHELASTIC_RUN_ID", "job-7"},
                                                     {"TORCHELASTIC_RESTART_COUNT", "2"},
                                                     {"TORCHELASTIC_MAX_RESTARTS", "3"},
                                                     {"MUSTER_RESTART_COUNT", "2"},
                                                     {"TORCHELASTIC_USE_AGENT_STORE", "False"},
                                                     {"MUSTER_LAUNCH_COMM_TIMEOUT", "1.5"}});
}

TEST_CASE("without RANK and WORLD_SIZE it is a world of one") {
  CHECK(World::from_environment({}) == World{});
  CHECK(World::from_environment({{"LOCAL_RANK", "5"}, {"MASTER_PORT", "x"}}) == World{});
  CHECK(World::from_environment({{"MUSTER_LAUNCH_COMM_TIMEOUT", "60"}}).timeout ==
        std::chrono::seconds(60));
}

TEST_CASE("other launchers say less") {
  CHECK(World::from_environment({{"RANK", "0"}, {"WORLD_SIZE", "1"}}) == World{});
  const World two = World::from_environment({{"RANK", "1"},
                                             {"WORLD_SIZE", "2"},
                                             {"LOCAL_RANK", "1"},
                                             {"LOCAL_WORLD_SIZE", "2"},
                                             {"MASTER_ADDR", "host"},
                                             {"MASTER_PORT", "29500"}});
  CHECK(two.node_count == 1);
  CHECK(two.master_addr == "host");
  Environment by_node_rank = some_world().to_environment();
  by_node_rank.erase("GROUP_RANK");
  CHECK(World::from_environment(by_node_rank) == some_world());
}

TEST_CASE("each missing variable is named") {
  for (const char* name : {"RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "MASTER_PORT"}) {
    CHECK(fault_without(name) ==
          std::string(name) + " is not set, though the process is a rank of a job");
  }
  CHECK(fault_without("MASTER_ADDR") == "MASTER_ADDR is not set: expected the address of rank 0");
  CHECK(fault_without("GROUP_WORLD_SIZE") ==
        "GROUP_WORLD_SIZE is not set, though the process is a rank of a job");
  CHECK(test::fault_of([] {
          World::from_environment({{"RANK", "0"}});
        }) == "WORLD_SIZE is not set, though the process is a rank of a job");
}

TEST_CASE("each malformed variable is named, all at once") {
  CHECK(fault_with(
            {{"RANK", "five"}, {"MASTER_PORT", "70000"}, {"TORCHELASTIC_RESTART_COUNT", ""}}) ==
        "RANK = 'five': expected a whole number from 0 to 1000000000\n"
        "MASTER_PORT = '70000': expected a whole number from 1 to 65535\n"
        "TORCHELASTIC_RESTART_COUNT = '': expected a whole number from 0 to 1000000000");
  for (const char* text : {"", "-1", "1.0", " 1", "1 ", "0x1", "99999999999999999999"}) {
    INFO(text);
    CHECK_FALSE(fault_with({{"LOCAL_RANK", text}}).empty());
  }
  CHECK(fault_with({{"MUSTER_LAUNCH_COMM_TIMEOUT", "soon"}})
            .starts_with("MUSTER_LAUNCH_COMM_TIMEOUT = 'soon': expected a number of seconds"));
}

TEST_CASE("variables that contradict each other are named") {
  CHECK(fault_with({{"RANK", "8"}}) == "RANK = 8 contradicts WORLD_SIZE = 8: expected less");
  CHECK(fault_with({{"LOCAL_RANK", "4"}}) ==
        "LOCAL_RANK = 4 contradicts LOCAL_WORLD_SIZE = 4: expected less");
  CHECK(fault_with({{"RANK", "0"}}) == "LOCAL_RANK = 1 contradicts RANK = 0: expected no more");
  CHECK(fault_with({{"LOCAL_WORLD_SIZE", "9"}}) ==
        "LOCAL_WORLD_SIZE = 9 contradicts WORLD_SIZE = 8: expected no more");
  CHECK(fault_with({{"GROUP_RANK", "2"}}) ==
        "GROUP_RANK = 2 contradicts GROUP_WORLD_SIZE = 2: expected less");
  CHECK(fault_with({{"GROUP_WORLD_SIZE", "9"}}) ==
        "GROUP_WORLD_SIZE = 9 contradicts WORLD_SIZE = 8: expected no more");
  CHECK(fault_with({{"LOCAL_WORLD_SIZE", "8"}}) ==
        "LOCAL_WORLD_SIZE = WORLD_SIZE = 8 contradicts GROUP_WORLD_SIZE = 2: the other hosts have "
        "no rank");
  CHECK(fault_with({{"GROUP_WORLD_SIZE", "1"}, {"GROUP_RANK", "0"}}) ==
        "GROUP_WORLD_SIZE = 1 contradicts LOCAL_WORLD_SIZE = 4 of WORLD_SIZE = 8: one host has all "
        "ranks");
}

TEST_CASE("current_environment has the variables of this process") {
  REQUIRE(setenv("A_VARIABLE_OF_THIS_TEST", "a=b", 1) == 0);
  CHECK(current_environment().at("A_VARIABLE_OF_THIS_TEST") == "a=b");
  REQUIRE(unsetenv("A_VARIABLE_OF_THIS_TEST") == 0);
  CHECK_FALSE(current_environment().contains("A_VARIABLE_OF_THIS_TEST"));
}

}  // namespace muster
