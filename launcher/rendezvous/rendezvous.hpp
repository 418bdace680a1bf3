#pragma once

#include <muster/resolve.hpp>
#include <muster/world.hpp>

#include "rendezvous/meeting.hpp"
#include "rendezvous/meeting_place.hpp"

#include <functional>
#include <string>
#include <vector>

namespace muster::launcher {

/// What the launcher of one host brings to a job of several.
struct Attendance {
  std::string host;                  ///< Its name, for people.
  std::vector<std::string> program;  ///< Its name and arguments.
  bool module = false;
  int ranks = 0;       ///< On this host, if each host decides for itself.
  int fault_code = 0;  ///< Not 0: the program cannot be started, and this is the exit code.
  std::string fault;
};

/// Checks what settings say of several hosts. Throws ConfigError.
void check_hosts(const Resolution& resolution);
/// The port on which they meet.
std::uint16_t meeting_port(const Resolution& resolution);

/// Meets the other hosts' launchers (`nnodes` in all) at `place`. Blocks until all are there, for
/// at most `rdzv_timeout`. Signals that a launcher answers must be held back. Throws what
/// Gathering::run and Joining::run do, and PortTaken.
Meeting meet(const Resolution& resolution, const Attendance& attendance, const MeetingPlace& place,
             MeetingOptions options);

}  // namespace muster::launcher
