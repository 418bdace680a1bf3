#pragma once

#include "launcher/rendezvous/two_networks.hpp"
#include "launcher/supervise/launch_run.hpp"

#include <nlohmann/json_fwd.hpp>

#include <memory>
#include <string>
#include <vector>

namespace muster::test {

using Words = std::vector<std::string>;
Words operator+(Words one, const Words& other);

/// Whether a command of the shell ends with 0.
bool works(const std::string& command);

/// A port of loopback that was free a moment ago.
std::string free_port();

/// What a launcher of two needs, and what else it is given.
Words two(const std::string& address, const Words& more = {});
Words on_loopback(const std::string& port, const Words& more = {});

/// Steps of a probe that runs until it is ended, and says when it does.
inline const Words until_told{"--touch", "OUT/up", "--sleep", "600"};

/// What precedes the launchers of both hosts.
struct Wrappers {
  Words first, second;
};

/// Two launchers of one job, on two networks or, without, on loopback.
class Job {
 public:
  Job(const Words& first, const Words& second, const Words& program,
      const TwoNetworks* networks = nullptr);
  Job(const Words& first, const Words& second, const Words& program, const Wrappers& wrappers);

  LaunchRun& operator[](std::size_t host) { return *hosts_[host]; }
  LaunchEnd wait(std::size_t host);
  /// What the rank wrote down of how it was started.
  nlohmann::json rank(std::size_t host, int number) const;

 private:
  std::vector<std::unique_ptr<LaunchRun>> hosts_;
};

}  // namespace muster::test

#define MUSTER_NEEDS_TWO_NETWORKS()                                                   \
  if (const auto why = muster::test::TwoNetworks::why_not(); !why.empty()) SKIP(why); \
  const muster::test::TwoNetworks networks
