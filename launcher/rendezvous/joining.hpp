#pragma once

#include "endpoint.hpp"
#include "rendezvous/inquiry.hpp"
#include "rendezvous/meeting.hpp"
#include "supervise/event_loop.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace muster::launcher {

/// The side of all other hosts: finds node 0's launcher, and waits with it for the rest.
class Joining {
 public:
  /// Tries the addresses in turn, again and again. `taken` is given where this host could have been
  /// node 0 if its port were not taken: what to say if no launcher of ours took it.
  Joining(std::vector<Endpoint> addresses, Join own, const MeetingOptions& options,
          std::optional<std::string> taken = std::nullopt);
  Joining(const Joining&) = delete;
  Joining& operator=(const Joining&) = delete;
  ~Joining() = default;

  /// Blocks until all are there. Throws ConfigError if the hosts do not agree, or if what answers
  /// is not muster's; Error (timed_out) if one does not come in time; Interrupted for a signal.
  Meeting run();

 private:
  void attempt();
  /// Whoever has node 0's TCP port: its launcher may answer by a datagram.
  void ask();
  void on_answer(const Answer& answer);
  void on_connected();
  void greet();
  void on_frame(const Frame& frame);
  void on_challenge(const Challenge& challenge);
  void on_welcome(const Welcome& welcome);
  void on_refusal(const Notice& notice);
  /// Nothing, or nobody of ours, is there: tries again.
  void try_again(const std::string& why, bool is_strange);
  void on_deadline();
  std::string status() const;
  const Endpoint& address() const { return addresses_[at_ % addresses_.size()]; }

  EventLoop loop_;
  std::vector<Endpoint> addresses_;
  Join own_;
  const MeetingOptions& options_;
  std::optional<std::string> taken_;

  std::size_t at_ = 0;  ///< Attempts so far.
  UniqueFd socket_;     ///< Being connected.
  std::unique_ptr<EventLoop::Watch> connecting_;
  std::unique_ptr<Connection> connection_;
  OpenInquiry inquiry_;
  std::unique_ptr<EventLoop::Watch> asked_;
  std::unique_ptr<EventLoop::Timer> patience_, pause_, deadline_, hint_;
  Digest nonce_{};
  bool answered_ = false;  ///< By a launcher of ours, on this connection.
  std::string progress_;   ///< What node 0 said last; empty: it has not let us in.
  std::string why_not_;    ///< Why the last attempt failed.
  int ends_for_ = 0;       ///< Attempts for which it is believed that the job there is ending.
  std::optional<std::chrono::steady_clock::time_point> strange_since_, refused_since_;
  Meeting meeting_;
};

}  // namespace muster::launcher
