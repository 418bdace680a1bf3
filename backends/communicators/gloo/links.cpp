#include "communicators/gloo/links.hpp"

#include <muster/error.hpp>

#include "communicators/gathering_point.hpp"
#include "communicators/gloo/tags.hpp"
#include "communicators/rendezvous.hpp"
#include "communicators/signals.hpp"
#include "text.hpp"

#include <ATen/ops/from_blob.h>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>

#include <algorithm>
#include <limits>
#include <map>
#include <optional>

namespace muster::gloo {

struct Message {
  int peer;
  c10::intrusive_ptr<c10d::Work> work;
};

struct Links::Transport {
  c10::intrusive_ptr<c10d::ProcessGroupGloo> group;
};

namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;
using Device = std::shared_ptr<::gloo::transport::Device>;
using Store = c10::intrusive_ptr<c10d::Store>;

/// Deadlines are kept by waiting threads, not by Gloo, which would close connections before peers
/// can be told why. To Gloo each wait is endless.
constexpr milliseconds endless{std::chrono::hours(24 * 365)};

/// One listening socket and one thread a process and address, shared by all groups.
Device device_for(const std::string& address) {
  static std::mutex mutex;
  static std::map<std::string, std::weak_ptr<::gloo::transport::Device>> devices;
  const std::lock_guard lock(mutex);
  auto device = devices[address].lock();
  if (!device) {
    const SignalsHeld held(SignalsHeld::Set::all);  // From Gloo's thread, which starts here.
    device = c10d::ProcessGroupGloo::createDeviceForHostname(address, /*lazyInit=*/false);
    devices[address] = device;
  }
  return device;
}

/// Each pair of ranks has several connections: one for each direction and each of these.
///
/// Gloo locks a connection while it writes, and its own thread spins when it cannot lock the one
/// from which something comes; on a machine with few cores it keeps the writer from running. What
/// comes while a thread of ours writes much are the peer's words that it is ready for more of the
/// same. So slices, for which it says that again and again, do not share a connection with the
/// results.
enum class Lane { letters, slices, results };
constexpr int lanes = 3;
constexpr int directions = 2;
constexpr int connections = lanes * directions;
static_assert(tag::end <= std::numeric_limits<int>::max() / connections);

Lane lane_of(int tag) {
  if (tag == tag::gather) {
    return Lane::results;
  }
  return tag == tag::part || tag::reduce.has(tag) || tag::bulk.has(tag) ? Lane::slices
                                                                        : Lane::letters;
}

/// Gloo takes the connection of that number, modulo their count.
int numbered(int tag, int connection) { return connections * tag + connection; }

int connection_of(int tag, int sender, int receiver) {
  return directions * static_cast<int>(lane_of(tag)) + (sender < receiver ? 0 : 1);
}

/// Loopback where that will do, of the family that the rendezvous has.
std::string address_for(const Endpoint& endpoint) {
  const auto& local = endpoint.rendezvous.state()->local_address;
  if (!endpoint.one_host) {
    return local;
  }
  return local.find(':') == std::string::npos ? "127.0.0.1" : "::1";
}

c10::intrusive_ptr<c10d::ProcessGroupGloo> connect_group(const Endpoint& endpoint) {
  const Store store = c10::make_intrusive<c10d::PrefixStore>("gloo/" + endpoint.group,
                                                             endpoint.rendezvous.state()->store);
  exchange_texts(endpoint, "gloo-arrived", "");
  auto options = c10d::ProcessGroupGloo::Options::create(endpoint.timeout);
  options->threads = 0;  // Of its operations only send and receive are used, which need none.
  const auto device = device_for(address_for(endpoint));
  options->devices.assign(connections, device);
  return c10::make_intrusive<c10d::ProcessGroupGloo>(store, endpoint.rank, endpoint.size, options);
}

}  // namespace

Links::Links(const Endpoint& endpoint)
    : rank_(endpoint.rank), size_(endpoint.size), transport_(std::make_unique<Transport>()) {
  const SignalsHeld held(SignalsHeld::Set::pipe);
  try {
    transport_->group = connect_group(endpoint);
  } catch (const Error&) {
    throw;
  } catch (const std::exception& error) {
    throw CommunicationError("rank " + std::to_string(rank_) + " cannot join group '" +
                             endpoint.group + "' of " + std::to_string(size_) +
                             " ranks: " + first_line(error.what()));
  }
}

Links::~Links() { close(); }

Ticket Links::send(int peer, int tag, const void* data, std::size_t bytes) {
  // Gloo takes one kind of pointer for both directions and only reads from this one.
  return post(true, peer, tag, const_cast<void*>(data), bytes);  // NOLINT
}

Ticket Links::receive(int peer, int tag, void* data, std::size_t bytes) {
  return post(false, peer, tag, data, bytes);
}

Ticket Links::post(bool sends, int peer, int tag, void* data, std::size_t bytes) {
  std::vector<at::Tensor> memory{at::from_blob(data, {static_cast<std::int64_t>(bytes)},
                                               at::TensorOptions().dtype(at::kByte))};
  std::optional<SignalsHeld> held;
  if (!is_quiet_thread()) {
    held.emplace(SignalsHeld::Set::pipe);
  }
  const int outgoing = numbered(tag, connection_of(tag, rank_, peer));
  const int incoming = numbered(tag, connection_of(tag, peer, rank_));
  const std::lock_guard lock(posting_);
  if (closed()) {
    throw PeerLost(peer, "closed by this rank");
  }
  try {
    auto& group = *transport_->group;
    return std::make_shared<Message>(Message{
        peer, sends ? group.send(memory, peer, outgoing) : group.recv(memory, peer, incoming)});
  } catch (const std::exception& error) {
    throw PeerLost(peer, first_line(error.what()));
  }
}

void Links::wait(const Ticket& ticket) { wait(ticket, endless); }

void Links::wait(const Ticket& ticket, milliseconds limit) {
  {
    const std::lock_guard lock(mutex_);
    if (closed_) {
      throw PeerLost(ticket->peer, "closed by this rank");
    }
    awaited_.push_back(ticket.get());
  }
  std::string error;
  try {
    // False: it was interrupted, by close() or by a stale probe.
    while (!ticket->work->wait(limit)) {
      if (closed()) {
        error = "closed by this rank";
        break;
      }
    }
  } catch (const std::exception& exception) {
    error = first_line(exception.what());
  }
  {
    const std::lock_guard lock(mutex_);
    awaited_.erase(std::find(awaited_.begin(), awaited_.end(), ticket.get()));
  }
  if (!error.empty()) {
    throw PeerLost(ticket->peer, error);
  }
}

void Links::probe(const Ticket& ticket) {
  try {
    // An interrupted wait looks at the connection first, and then returns without blocking.
    ticket->work->abort();
    ticket->work->wait(endless);
  } catch (const std::exception& error) {
    throw PeerLost(ticket->peer, first_line(error.what()));
  }
}

bool Links::closed() const {
  const std::lock_guard lock(mutex_);
  return closed_;
}

void Links::close() noexcept {
  {
    const std::lock_guard lock(mutex_);
    if (closed_) {
      return;
    }
    closed_ = true;
  }
  if (!transport_->group) {
    return;
  }
  const SignalsHeld held(SignalsHeld::Set::pipe);
  {
    const std::lock_guard lock(posting_);
    for (int connection = 0; connection < connections; ++connection) {
      poison(connection);
    }
  }
  // Gloo does not wake who waits for a message that was half way when its connection closed.
  const std::lock_guard lock(mutex_);
  for (auto* message : awaited_) {
    message->work->abort();
  }
}

/// Gloo closes all connections of a set when one wait runs out of time; it offers no other way.
void Links::poison(int connection) noexcept {
  std::uint8_t nothing = 0;
  for (int peer = 0; peer < size_; ++peer) {
    if (peer == rank_) {
      continue;
    }
    try {
      std::vector<at::Tensor> memory{
          at::from_blob(&nothing, {1}, at::TensorOptions().dtype(at::kByte))};
      transport_->group->recv(memory, peer, numbered(tag::never, connection))
          ->wait(milliseconds(1));
    } catch (const std::exception&) {
      // Expected. It was this one's connection alone if that was closed before: on to the next.
    }
  }
}

}  // namespace muster::gloo
