#pragma once

#include <muster/error.hpp>
#include <muster/setting_names.hpp>

#include "port.hpp"
#include "rendezvous/connection.hpp"
#include "rendezvous/doorkeeper.hpp"
#include "rendezvous/messages.hpp"
#include "rendezvous/token.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace muster::launcher {

/// The hosts of a job, once all are there.
struct Meeting {
  std::string run_id;
  std::int32_t node_rank = 0;  ///< Which one this is.
  std::vector<Node> nodes;     ///< In the order of their ranks.
  std::string master_addr;     ///< Literal: node 0, as this host reaches it.
  ReservedPort port;           ///< Node 0: for rank 0's store. Else only the number.
  /// Node 0: to nodes 1, 2, ...; else one, to node 0.
  std::vector<OpenConnection> peers;
  std::unique_ptr<Doorkeeper> door;  ///< Node 0: closed.

  /// The number in the world of this host's first rank, and how many there are.
  int first_rank() const;
  int world_size() const;
  /// "node 1 (host-b, 10.0.0.2)"
  std::string name_of(std::int32_t node) const;
  /// Why nobody can join as node `wanted` (-1: any), `age` after all were there.
  std::string full_text(std::int32_t wanted, std::chrono::nanoseconds age) const;
};

/// How hosts meet.
struct MeetingOptions {
  std::string place;  ///< For people: the address as it was asked for, with what it stands for.
  std::chrono::nanoseconds timeout{0};  ///< Until all are there.
  /// For what a launcher says at once; who is slower is none, or on a network that nobody could
  /// use. For twice as long a job that is ending may still have the port.
  std::chrono::nanoseconds patience = std::chrono::seconds(5);
  Token token;
  SettingNames names;                            ///< How messages name settings.
  std::string new_run_id;                        ///< Of node 0, if nobody gave one.
  std::function<void(const std::string&)> tell;  ///< One line for people.
};

/// A signal came before all hosts were there.
class Interrupted : public Error {
 public:
  Interrupted(int signal, bool from_terminal);

  int signal() const noexcept { return signal_; }
  bool from_terminal() const noexcept { return from_terminal_; }

 private:
  int signal_;
  bool from_terminal_;
};

/// Ranks of node `node` if `total` are shared out evenly over `nodes`: the first get the rest.
int share_of(int total, int nodes, int node);

/// On what the two do not agree, in one line that names both; empty if they do.
std::string difference(const Join& one, const std::string& ones_name, const Join& other,
                       const std::string& others_name);

}  // namespace muster::launcher
