#pragma once

#include "rendezvous/meeting.hpp"
#include "rendezvous/verdict.hpp"
#include "supervise.hpp"
#include "supervise/event_loop.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace muster::launcher {

/// The launchers of the other hosts while ranks run. What ends the job on one host ends it on all,
/// and all end as the one on which it happened first. Node 0 is between all others: it passes on
/// what they say, hears how each host's part ended, and tells all how the job did.
class NodeLink {
 public:
  /// What the supervisor of this host's ranks does when others say so.
  struct Actions {
    std::function<void(int signal)> end;  ///< The job is being ended.
    std::function<void()> kill;           ///< Nothing is to be waited for.
    std::function<void()> decided;
  };

  /// `grace` is from the first signal to SIGKILL: hosts are waited for that long, and no longer
  /// than it takes to see ranks die.
  NodeLink(Meeting meeting, Seconds grace);
  ~NodeLink() = default;
  NodeLink(const NodeLink&) = delete;
  NodeLink& operator=(const NodeLink&) = delete;

  const Meeting& meeting() const noexcept { return meeting_; }
  /// Completes an outcome before others get it; called once for each report.
  void complete_with(std::function<void(Outcome&)> complete) { complete_ = std::move(complete); }

  /// For rank 0's store, where that is here.
  ReservedPort take_port() { return std::move(meeting_.port); }

  void start(EventLoop& loop, Actions actions);
  /// This host ends its ranks, with `signal`, by what happened here.
  void tell_end(int signal);
  void tell_kill();
  /// Nothing of this host's part is left. May be called again, if it turns out to be otherwise.
  void report(Outcome own);
  /// All hosts are done, and how the job ended is known.
  bool decided() const noexcept { return done_; }
  /// `own` as all hosts see it; unchanged if that was never decided.
  Outcome settle(Outcome own) const;

  /// The loop is about to go.
  void stop() noexcept;

  /// Before start: this host's ranks cannot be started after all. Others are told, nobody waits.
  void abandon(int exit_code, const std::string& message) noexcept;

 private:
  struct Host {
    std::int32_t node = 0;
    std::unique_ptr<Connection> connection;  ///< Null once it is closed.
    std::optional<Testimony> testimony;
  };

  /// Launchers that come too late are told so, while the job is not ending.
  void answer_the_door(EventLoop& loop);
  bool is_middle() const noexcept { return meeting_.node_rank == 0; }
  void on_frame(Host& host, const Frame& frame);
  void on_report(Host& host, NodeReport report);
  void on_verdict(const Verdict& verdict);
  void on_closed(Host& host, const std::string& why, std::int64_t silent_ns);
  void lose(Host& host, const std::string& why, std::int64_t silent_ns);
  /// To all hosts that we are connected to, but one.
  void send(MessageKind kind, const std::string& payload, const Host* but = nullptr);
  void obey_end(const Host* from, int signal);
  void wait_for_the_rest();
  void decide_if_all_are_done();
  void finish();
  void finish_if_all_know();

  Meeting meeting_;
  std::chrono::nanoseconds grace_;
  std::chrono::steady_clock::time_point met_ = std::chrono::steady_clock::now();
  std::function<void(Outcome&)> complete_;
  EventLoop* loop_ = nullptr;
  Actions actions_;
  std::vector<Host> hosts_;  ///< Node 0: nodes 1, 2, ...; else node 0.
  std::optional<Testimony> own_;
  std::optional<Verdict> verdict_;
  std::unique_ptr<EventLoop::Timer> patience_;
  bool ending_ = false;
  bool done_ = false;
};

}  // namespace muster::launcher
