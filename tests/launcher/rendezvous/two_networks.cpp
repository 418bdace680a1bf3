#include "two_networks.hpp"

#include <catch2/catch_test_macros.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <unistd.h>

namespace muster::test {
namespace {

bool run(const std::string& command) {
  return std::system((command + " >/dev/null 2>&1").c_str()) == 0;
}

/// Where `ip netns exec` finds files that are to lie in /etc.
std::filesystem::path etc_of(const std::string& name) { return "/etc/netns/" + name; }

}  // namespace

std::string TwoNetworks::why_not() {
  if (::getuid() != 0) return "only root can make two networks";
  if (!run("ip -V")) return "there is no ip command (iproute2)";
  const auto probe = "muster-probe-" + std::to_string(::getpid());
  const bool allowed = run("ip netns add " + probe) && run("ip netns exec " + probe + " true");
  run("ip netns del " + probe);
  return allowed ? "" : "this system denies network namespaces";
}

TwoNetworks::TwoNetworks() {
  static int count = 0;
  const auto mark = std::to_string(::getpid()) + "-" + std::to_string(++count);
  for (const int host : {0, 1}) {
    names_[host] = "muster-" + mark + (host == 0 ? "a" : "b");
    REQUIRE(run("ip netns add " + names_[host]));
  }
  REQUIRE(run("ip link add cable netns " + names_[0] + " type veth peer name cable netns " +
              names_[1]));
  for (const int host : {0, 1}) {
    const auto ip = "ip -n " + names_[host];
    REQUIRE(run(ip + " addr add " + address(host) + "/24 dev cable"));
    run(ip + " addr add " + address6(host) + "/64 dev cable nodad");  // Where there is IPv6.
    REQUIRE(run(ip + " link set cable up"));
    REQUIRE(run(ip + " link set lo up"));
  }
}

TwoNetworks::~TwoNetworks() {
  std::error_code ignored;
  for (const auto& name : names_) {
    if (name.empty()) continue;
    run("ip netns del " + name);
    std::filesystem::remove_all(etc_of(name), ignored);
  }
  std::filesystem::remove("/etc/netns", ignored);  // If it is empty.
}

std::vector<std::string> TwoNetworks::on(int host) const {
  return {"ip", "netns", "exec", names_[host]};
}

void TwoNetworks::cut() const { REQUIRE(run("ip -n " + names_[1] + " link set cable down")); }

void TwoNetworks::name(int host, const std::string& name, const std::string& address) const {
  std::filesystem::create_directories(etc_of(names_[host]));
  std::ofstream(etc_of(names_[host]) / "hosts") << "127.0.0.1 localhost\n"
                                                << address << " " << name << "\n";
}

}  // namespace muster::test
