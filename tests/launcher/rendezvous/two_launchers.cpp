#include "two_launchers.hpp"

#include "port.hpp"

#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>

#include <cstdlib>

namespace muster::test {

Words operator+(Words one, const Words& other) {
  one.insert(one.end(), other.begin(), other.end());
  return one;
}

bool works(const std::string& command) {
  return std::system((command + " >/dev/null 2>&1").c_str()) == 0;
}

std::string free_port() { return std::to_string(launcher::reserve_port("127.0.0.1", 0).port); }

Words two(const std::string& address, const Words& more) {
  return Words{"--nnodes", "2", "--master-addr", address, "--devices", "cpu"} + more;
}

Words on_loopback(const std::string& port, const Words& more) {
  return two("127.0.0.1", Words{"--master-port", port} + more);
}

Job::Job(const Words& first, const Words& second, const Words& program, const TwoNetworks* networks)
    : Job(first, second, program,
          networks ? Wrappers{networks->on(0), networks->on(1)} : Wrappers{}) {}

Job::Job(const Words& first, const Words& second, const Words& program, const Wrappers& wrappers) {
  const Words ranks = Words{"--", probe_program()} + program;
  hosts_.emplace_back(new LaunchRun(first + ranks, {.wrapper = wrappers.first}));
  hosts_.emplace_back(new LaunchRun(second + ranks, {.wrapper = wrappers.second}));
}

LaunchEnd Job::wait(std::size_t host) {
  auto end = hosts_[host]->wait();
  CHECK(hosts_[host]->survivors_after_a_second().empty());
  return end;
}

nlohmann::json Job::rank(std::size_t host, int number) const {
  return nlohmann::json::parse(
      file_text(hosts_[host]->path("rank_" + std::to_string(number) + ".json")));
}

}  // namespace muster::test
