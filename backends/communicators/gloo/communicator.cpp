#include <muster/error.hpp>

#include "communicators/gloo/gloo_transport.hpp"
#include "communicators/grouped.hpp"
#include "communicators/kinds.hpp"

#include <memory>
#include <string>

namespace muster {
namespace {

std::string gloo_unavailable(const Endpoint& endpoint) {
  if (endpoint.device.type() != at::kCPU) {
    return "serves the CPU, this group is on " + endpoint.device.str();
  }
  return endpoint.size > 1 && !endpoint.rendezvous.state() ? "needs an open rendezvous" : "";
}

std::unique_ptr<Communicator> connect_gloo(const Endpoint& endpoint) {
  try {
    return std::make_unique<GroupedCommunicator>("gloo", endpoint,
                                                 std::make_unique<gloo::GlooTransport>(endpoint));
  } catch (const PeerLost& error) {
    throw CommunicationError("rank " + std::to_string(endpoint.rank) + " lost rank " +
                             std::to_string(error.peer()) + " while it joined group '" +
                             endpoint.group + "': " + error.what());
  }
}

}  // namespace

constinit const CommunicatorKind gloo_communicator{"gloo", true, gloo_unavailable, connect_gloo};

}  // namespace muster
