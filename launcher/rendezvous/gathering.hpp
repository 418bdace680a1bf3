#pragma once

#include "rendezvous/meeting.hpp"
#include "supervise/event_loop.hpp"

#include <list>
#include <memory>
#include <string>
#include <vector>

namespace muster::launcher {

/// Node 0's side of a rendezvous: waits for the launchers of all other hosts.
///
/// Who connects has seconds to say what it is, in few bytes; what is no launcher of the job is
/// sent away and harms nobody. With a token, nothing of what a stranger says is believed.
class Gathering {
 public:
  /// `port` is bound, and was not chosen by the kernel, which would not keep it afterwards; it is
  /// listened on from here on, until all are there.
  Gathering(ReservedPort port, Join own, const MeetingOptions& options);
  Gathering(const Gathering&) = delete;
  Gathering& operator=(const Gathering&) = delete;
  ~Gathering();

  /// Blocks until all are there; the port is then bound, not listened on. Throws ConfigError if two
  /// hosts do not agree, Error (timed_out) if one does not come in time, Interrupted for a signal;
  /// who has joined is told why.
  Meeting run();

 private:
  struct Guest;
  using GuestPlace = std::list<Guest>::iterator;

  void listen();
  void on_arrival();
  void on_frame(GuestPlace guest, const Frame& frame);
  void on_hello(GuestPlace guest, const Frame& frame);
  void on_join(GuestPlace guest, const Frame& frame);
  void admit(GuestPlace guest);
  void on_closed(GuestPlace guest, const std::string& why);
  void refuse(GuestPlace guest, ExitCode code, const std::string& text);
  void tell_once(const std::string& text);
  [[noreturn]] void give_up(ExitCode code, const std::string& text);
  void on_deadline();

  /// Whose node rank that is; empty if it is free.
  std::string owner_of(int node_rank) const;
  std::string name_of(const Guest& guest) const;
  int joined() const;
  std::string progress() const;
  /// For who would be that node too, or cannot reach the TCP port.
  std::string words_for(std::int32_t node_rank) const;
  void share_progress();
  std::vector<GuestPlace> in_node_order();
  void complete();

  EventLoop loop_;
  ReservedPort port_;
  std::unique_ptr<Doorkeeper> door_;
  Join own_;
  const MeetingOptions& options_;
  std::list<Guest> guests_;
  std::unique_ptr<EventLoop::Watch> arrivals_;
  std::unique_ptr<EventLoop::Timer> deadline_, hint_;
  int told_ = 0;
  Meeting meeting_;
};

}  // namespace muster::launcher
