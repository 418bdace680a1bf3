#include <muster/error.hpp>

#include "backends/catch.hpp"
#include "backends/ranks.hpp"

#include <string>

namespace muster {
namespace {

std::string message(std::string_view name, const Endpoint& endpoint) {
  try {
    connect(name, endpoint);
  } catch (const Error& error) {
    return error.what();
  }
  return "(connected)";
}

TEST_CASE("auto takes self for one rank and says why") {
  const auto connection = connect("auto", {});
  CHECK(connection.communicator->name() == "self");
  CHECK(connection.why == "self serves 1 rank on cpu");
}

TEST_CASE("auto connects ranks of one host and says why") {
  REQUIRE_NOTHROW(test::on_ranks(2, std::chrono::seconds(60), [](const Endpoint& endpoint) {
    const auto connection = connect("auto", endpoint);
    test::expect_contains(connection.why, "serves 2 ranks on cpu, one host");
    test::expect_contains(connection.why, "not self: serves one rank, this group has 2");
    connection.communicator->barrier("x").wait();
  }));
}

TEST_CASE("an unknown name lists what there is") {
  CHECK(message("mpi", {}) == "no communicator 'mpi'; this build has: auto, self, shm, gloo, fake");
  CHECK_THROWS_AS(connect("mpi", {}), ConfigError);
}

TEST_CASE("a kind that cannot serve says why not") {
  Endpoint two;
  two.size = 2;
  CHECK_THROWS_AS(connect("self", two), UnsupportedError);
  CHECK(message("self", two).find("it serves one rank, this group has 2") != std::string::npos);
  CHECK(message("gloo", two).find("it needs an open rendezvous") != std::string::npos);
  CHECK(message("auto", two).find("not gloo: needs an open rendezvous") != std::string::npos);
  two.device = at::Device("cuda:0");
  CHECK(message("gloo", two).find("it serves the CPU, this group is on cuda:0") !=
        std::string::npos);
}

TEST_CASE("a group of one is self whatever real kind is asked for") {
  const auto connection = connect("gloo", {});
  CHECK(connection.communicator->name() == "self");
  CHECK(connection.why == "self, because a group of one has nobody to talk to over gloo");
}

}  // namespace
}  // namespace muster
