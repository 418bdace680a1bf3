#pragma once

#include <muster/communicator.hpp>
#include <muster/world.hpp>

#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace muster {

/// Where the ranks of a job meet before they have a communicator: rank 0's store, opened once a
/// process. Copies share it.
class Rendezvous {
 public:
  Rendezvous() = default;  ///< Of a world of one: none is needed.
  /// Rank 0 serves on MUSTER_MASTER_FD if the launcher handed it one, else on
  /// world.master_addr:master_port; the others wait for it, at most world.timeout. Throws
  /// CommunicationError.
  static Rendezvous open(const World& world);

  struct State;  ///< Holds a c10d::Store; known to communicators only.
  const std::shared_ptr<State>& state() const noexcept { return state_; }

 private:
  std::shared_ptr<State> state_;
};

/// What is needed to join a group.
struct Endpoint {
  int rank = 0;
  int size = 1;
  at::Device device = at::kCPU;
  std::chrono::milliseconds timeout{1'800'000};
  /// Ranks compare labels too, so that a collective of another place in the program is noticed even
  /// where operation, dtype and shape are equal. All ranks of the group must say the same.
  bool check_collectives = false;
  bool one_host = true;  ///< All ranks share a host: loopback will do.
  std::string group =
      "world";  ///< Distinct for each group, also for one that replaces a failed one.
  Rendezvous rendezvous;
};

/// A row of the table of communicators. A backend is this and a Communicator: one file.
struct CommunicatorKind {
  std::string_view name;
  bool moves_data;  ///< False: it invents results (fake), and auto never takes it.
  /// Why it cannot serve this endpoint, as "serves one rank, ..."; empty if it can. Connects to
  /// nothing.
  std::string (*unavailable)(const Endpoint& endpoint);
  /// Collective. Throws UnsupportedError, on all ranks, if they find that it cannot serve them.
  std::unique_ptr<Communicator> (*connect)(const Endpoint& endpoint);
};

/// All that were built, in the order in which auto asks them: it takes the first that can serve.
std::span<const CommunicatorKind* const> communicator_kinds() noexcept;

/// A group and why this kind was chosen ("all ranks on one host").
struct Connection {
  std::unique_ptr<Communicator> communicator;
  std::string why;
};

/// Collective over the endpoint's ranks. `name` is a kind's name or "auto".
/// Throws ConfigError naming the kinds if there is none of that name, UnsupportedError if it cannot
/// serve here, CommunicationError if a peer does not come.
Connection connect(std::string_view name, const Endpoint& endpoint);

}  // namespace muster
