#include "communicators/rendezvous.hpp"

#include <muster/error.hpp>

#include "communicators/joining.hpp"
#include "communicators/listener.hpp"
#include "communicators/name_service.hpp"
#include "communicators/signals.hpp"
#include "text.hpp"

#include <c10/util/Flags.h>
#include <c10/util/Logging.h>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <optional>
#include <string_view>

C10_DECLARE_int(caffe2_log_level);

namespace muster {
namespace {

std::string_view variable(const char* name) {
  const char* const value =
      std::getenv(name);  // NOLINT(concurrency-mt-unsafe): read once, at start.
  return value == nullptr ? std::string_view() : value;
}

/// c10d warns on stderr about every wait that takes long or ends without success. We say the same
/// with an exception that has the reason.
void quiet_warnings() {
  static const bool done = [] {
    c10::initLogging();
    if (variable("TORCH_CPP_LOG_LEVEL").empty()) {
      constexpr int errors_only = 2;
      FLAGS_caffe2_log_level = std::max(FLAGS_caffe2_log_level, errors_only);
    }
    return true;
  }();
  static_cast<void>(done);
}

std::optional<int> inherited_listener() {
  const auto text = variable("MUSTER_MASTER_FD");
  if (text.empty()) {
    return std::nullopt;
  }
  int fd = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), fd);
  if (error != std::errc() || end != text.data() + text.size() || fd < 0) {
    throw ConfigError("MUSTER_MASTER_FD is '" + std::string(text) +
                      "', expected a descriptor's number");
  }
  return fd;
}

/// Under torchrun the store is the agent's, and rank 0 is a client like all.
bool served_by_agent() { return variable("TORCHELASTIC_USE_AGENT_STORE") == "True"; }

c10::intrusive_ptr<c10d::Store> open_store(const World& world, std::string& local_address) {
  const SocketAddress address{world.master_addr, world.master_port};
  c10d::TCPStoreOptions options;
  options.port = address.port;
  options.timeout = world.timeout;
  options.waitWorkers = false;
  if (world.rank == 0 && !served_by_agent()) {
    const auto inherited = inherited_listener();
    options.isServer = true;
    options.masterListenFd = inherited ? listen_on_inherited(*inherited) : listen_on(address);
    local_address = address.host;
  } else {
    local_address = await_listener(address, world.timeout);
  }
  const NameServiceOff no_names;
  // A server starts a thread, which must not get the program's signals. Somebody listens by now, so
  // nobody waits long with signals held.
  const SignalsHeld held(SignalsHeld::Set::all);
  try {
    return c10::make_intrusive<c10d::TCPStore>(address.host, options);
  } catch (const std::exception& error) {
    throw CommunicationError("rank " + std::to_string(world.rank) + " cannot use the store at " +
                             to_text(address) + ": " + first_line(error.what()));
  }
}

}  // namespace

Rendezvous Rendezvous::open(const World& world) {
  Rendezvous result;
  if (world.size == 1) {
    return result;
  }
  if (world.master_port == 0) {
    throw ConfigError("a world of " + std::to_string(world.size) +
                      " ranks needs MASTER_ADDR and MASTER_PORT; 'muster launch' sets them");
  }
  quiet_warnings();
  auto state = std::make_shared<State>();
  auto store = joining("rendezvous", world.master_addr,
                       [&] { return open_store(world, state->local_address); });
  // A store of an agent serves others too, and outlives restarts of the job.
  state->store = c10::make_intrusive<c10d::PrefixStore>(
      "muster/" + world.run_id + "/" + std::to_string(world.restart_count), std::move(store));
  result.state_ = std::move(state);
  return result;
}

}  // namespace muster
