#pragma once

#include "rendezvous/messages.hpp"

#include <cstdint>
#include <span>

namespace muster::launcher {

/// What one host says of the end, and when that happened by the clock of whoever decides.
struct Testimony {
  std::int32_t node = 0;
  NodeReport report;
  std::int64_t began_ns = 0;
};

/// How the job ended: by whatever happened first, on any host. What is a consequence by its own
/// words counts only if there is nothing else, and what hosts did because others said so not at
/// all. `ok` if all is well everywhere.
Verdict decide(std::span<const Testimony> hosts);

/// A host that does not answer any more. It is older than it is noticed: the network is not
/// believed to be silent at once, and what its end does to ranks elsewhere is often seen before it.
Testimony lost_host(std::int32_t node, const std::string& message, std::int64_t noticed_ns,
                    std::int64_t silent_ns);

/// `own` as the whole job sees it: `name` is that of the host on which it was decided.
Outcome as_decided(Outcome own, const Verdict& verdict, const std::string& name);

NodeReport report_of(const Outcome& outcome, std::int64_t now_ns);

}  // namespace muster::launcher
