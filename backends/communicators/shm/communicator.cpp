#include <muster/error.hpp>

#include "communicators/gathering_point.hpp"
#include "communicators/grouped.hpp"
#include "communicators/kinds.hpp"
#include "communicators/shm/shm_transport.hpp"

#include <cstring>
#include <exception>
#include <memory>
#include <optional>
#include <random>
#include <sstream>
#include <string>
#include <system_error>
#include <unistd.h>

namespace muster {
namespace {

/// Where rank 0's memory is.
struct Offer {
  pid_t process = 0;
  int descriptor = -1;
  std::uint64_t token = 0;  ///< At its beginning: another process of that number has another.
};

std::string to_text(const Offer& offer) {
  return std::to_string(offer.process) + " " + std::to_string(offer.descriptor) + " " +
         std::to_string(offer.token);
}

/// Nothing for a reason why there is no memory.
std::optional<Offer> read_offer(const std::string& text) {
  Offer offer;
  std::istringstream words(text);
  if (words >> offer.process >> offer.descriptor >> offer.token) return offer;
  return std::nullopt;
}

/// Rank 0's memory, or why there is none.
struct Made {
  std::optional<shm::Segment> segment;
  std::string offer;
};

Made make_segment(int size) {
  const shm::Layout layout(size);
  try {
    Made made{shm::Segment::create(layout.bytes(), layout.reserved()), {}};
    std::random_device random;
    const Offer offer{getpid(), made.segment->descriptor(),
                      std::uint64_t{random()} << 32U | random()};
    std::memcpy(made.segment->data() + layout.token(), &offer.token, sizeof offer.token);
    made.offer = to_text(offer);
    return made;
  } catch (const std::system_error& error) {
    return {std::nullopt, std::string("cannot be made: ") + error.what()};
  }
}

/// Opens rank 0's memory; `why_not` says what it cannot.
std::optional<shm::Segment> open_segment(const Offer& offer, int size, std::string& why_not) {
  const shm::Layout layout(size);
  try {
    auto segment = shm::Segment::open(offer.process, offer.descriptor, layout.bytes());
    std::uint64_t token = 0;
    std::memcpy(&token, segment.data() + layout.token(), sizeof token);
    if (token == offer.token) return segment;
    why_not = "is another one's: the ranks do not see the same processes";
  } catch (const std::system_error& error) {
    why_not = std::string("cannot be opened: ") + error.what();
  }
  return std::nullopt;
}

/// Collective; all ranks throw the same UnsupportedError, or none.
std::unique_ptr<shm::ShmTransport> join(const Endpoint& endpoint) {
  Made made;
  if (endpoint.rank == 0) made = make_segment(endpoint.size);
  const std::string offered = exchange_texts(endpoint, "shm-offer", made.offer).front();
  const auto offer = read_offer(offered);
  std::string why_not;
  if (!offer) {
    why_not = offered;
  } else if (endpoint.rank != 0) {
    made.segment = open_segment(*offer, endpoint.size, why_not);
  }
  std::unique_ptr<shm::ShmTransport> transport;
  if (made.segment) {
    transport = std::make_unique<shm::ShmTransport>(std::move(*made.segment), endpoint.rank,
                                                    endpoint.size, endpoint.check_collectives);
  }
  const auto answers = exchange_texts(endpoint, "shm-answer", why_not);
  for (int rank = 0; rank < endpoint.size; ++rank) {
    const std::string& answer = answers[static_cast<std::size_t>(rank)];
    if (answer.empty()) continue;
    throw UnsupportedError("shared memory " + answer + " (on rank " + std::to_string(rank) + ")");
  }
  transport->ready();
  return transport;
}

std::string shm_unavailable(const Endpoint& endpoint) {
  if (endpoint.device.type() != at::kCPU) {
    return "serves the CPU, this group is on " + endpoint.device.str();
  }
  if (!endpoint.one_host) return "serves one host";
  if (endpoint.size > shm::most_ranks) {
    return "serves " + std::to_string(shm::most_ranks) + " ranks at most";
  }
  return endpoint.size > 1 && !endpoint.rendezvous.state() ? "needs an open rendezvous" : "";
}

std::unique_ptr<Communicator> connect_shm(const Endpoint& endpoint) {
  return std::make_unique<GroupedCommunicator>("shm", endpoint, join(endpoint));
}

}  // namespace

constinit const CommunicatorKind shm_communicator{"shm", true, shm_unavailable, connect_shm};

}  // namespace muster
