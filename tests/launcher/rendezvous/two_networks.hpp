#pragma once

#include <string>
#include <vector>

namespace muster::test {

/// Two hosts of a network, as far as programs can tell: two network namespaces, joined by a pair of
/// virtual cables, where loopback leads nowhere. Needs root and iproute2.
class TwoNetworks {
 public:
  /// Empty if there can be two; else why not.
  static std::string why_not();

  /// Fails the test if they cannot be made.
  TwoNetworks();
  TwoNetworks(const TwoNetworks&) = delete;
  TwoNetworks& operator=(const TwoNetworks&) = delete;
  ~TwoNetworks();

  /// What precedes a command for it to run on host 0 or 1.
  std::vector<std::string> on(int host) const;
  static std::string address(int host) { return "10.77.0." + std::to_string(host + 1); }
  static std::string address6(int host) { return "fd77::" + std::to_string(host + 1); }
  /// Host 1's cable is pulled.
  void cut() const;
  /// The name stands for that address on that host.
  void name(int host, const std::string& name, const std::string& address) const;

 private:
  std::string names_[2];
};

}  // namespace muster::test
