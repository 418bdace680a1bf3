#include "gathering.hpp"

#include "endpoint.hpp"
#include "rendezvous/interruption.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sys/socket.h>

namespace muster::launcher {
namespace {

using std::chrono::seconds;

/// Connections that have not joined yet; of more, the oldest goes.
constexpr std::size_t most_strangers = 64;
/// Lines about strangers; a scanner must not fill the screen.
constexpr int most_told = 5;
/// After which a person would like to know what is being waited for.
constexpr seconds hint_time{5};

/// Without what a terminal would obey: a stranger may have sent it.
std::string printable(std::string text) {
  std::ranges::replace_if(
      text, [](char byte) { return static_cast<unsigned char>(byte) < ' ' || byte == 0x7f; }, '?');
  return text;
}

void make_printable(Join& join) {
  for (auto* text : {&join.version, &join.host, &join.run_id, &join.fault})
    *text = printable(std::move(*text));
}

}  // namespace

struct Gathering::Guest {
  enum class State { silent, greeted, joined, refused };

  State state = State::silent;
  std::unique_ptr<Connection> connection;
  std::unique_ptr<EventLoop::Timer> patience;
  std::string address;
  Digest nonce{}, our_nonce{};
  Join join;
};

Gathering::Gathering(ReservedPort port, Join own, const MeetingOptions& options)
    : port_(std::move(port)), own_(std::move(own)), options_(options) {
  listen();
}

Gathering::~Gathering() = default;

void Gathering::listen() {
  constexpr int backlog = 128;
  if (::listen(port_.socket.get(), backlog) != 0) {
    throw PortTaken(fmt::format("cannot listen on port {} of {}: {}", port_.port, port_.address,
                                std::strerror(errno)));
  }
  door_ =
      std::make_unique<Doorkeeper>(*literal_endpoint(port_.address, port_.port), options_.token);
}

Meeting Gathering::run() {
  const Interruption interruption(
      loop_, [this] { return progress(); }, options_.tell);
  arrivals_ =
      loop_.watch(port_.socket.get(), EventLoop::Direction::readable, [this] { on_arrival(); });
  door_->open(loop_, [this](std::int32_t node_rank) {
    return Doorkeeper::Words{Standing::waits, words_for(node_rank)};
  });
  deadline_ = loop_.timer();
  deadline_->set(options_.timeout, [this] { on_deadline(); });
  hint_ = loop_.timer();
  hint_->set(hint_time, [this] { options_.tell("waiting: " + progress()); });
  loop_.run();
  return std::move(meeting_);
}

void Gathering::on_arrival() {
  UniqueFd socket(::accept4(port_.socket.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!socket) return;
  const auto strangers = std::ranges::count_if(
      guests_, [](const Guest& guest) { return guest.state != Guest::State::joined; });
  if (static_cast<std::size_t>(strangers) >= most_strangers) {
    guests_.erase(std::ranges::find_if(
        guests_, [](const Guest& guest) { return guest.state != Guest::State::joined; }));
  }
  const GuestPlace guest = guests_.emplace(guests_.end());
  guest->address = peer_endpoint(socket.get()).address();
  guest->connection = std::make_unique<Connection>(loop_, OpenConnection{std::move(socket), {}},
                                                   Connection::most_of_strangers);
  guest->patience = loop_.timer();
  guest->patience->set(options_.patience,
                       [this, guest] { on_closed(guest, "it said nothing in time"); });
  guest->connection->start(
      [this, guest](const Frame& frame) { on_frame(guest, frame); },
      [this, guest](const std::string& why, std::int64_t) { on_closed(guest, why); });
}

void Gathering::on_frame(GuestPlace guest, const Frame& frame) {
  if (frame.protocol != rendezvous_protocol) {
    const auto text =
        fmt::format("another version of muster: its rendezvous speaks {}, that of {} speaks {}",
                    frame.protocol, own_.host, rendezvous_protocol);
    refuse(guest, ExitCode::usage, text);
    if (!options_.token) give_up(ExitCode::usage, guest->address + " has " + text);
  } else if (guest->state == Guest::State::silent && frame.kind == MessageKind::hello) {
    on_hello(guest, frame);
  } else if (guest->state == Guest::State::greeted && frame.kind == MessageKind::join) {
    on_join(guest, frame);
  } else {
    on_closed(guest, "it does not follow the protocol");
  }
}

void Gathering::on_hello(GuestPlace guest, const Frame& frame) {
  const auto hello = decode<Hello>(frame.payload);
  if (!hello) {
    on_closed(guest, "it does not follow the protocol");
    return;
  }
  guest->nonce = hello->nonce;
  guest->our_nonce = random_nonce();
  guest->state = Guest::State::greeted;
  Challenge challenge{bool(options_.token), guest->our_nonce, {}};
  if (options_.token)
    challenge.proof = proof_of_host(options_.token, guest->nonce, guest->our_nonce);
  guest->connection->send(MessageKind::challenge, encode(challenge));
}

void Gathering::on_join(GuestPlace guest, const Frame& frame) {
  const std::string_view payload = frame.payload;
  constexpr auto proof_bytes = std::tuple_size_v<Digest>;
  const auto proof = payload.substr(0, std::min(payload.size(), proof_bytes));
  const auto rest = payload.substr(proof.size());
  auto join = decode<Join>(rest);
  Digest shown{};
  std::copy(proof.begin(), proof.end(), shown.begin());
  if (options_.token &&
      !equal(shown, proof_of_guest(options_.token, guest->nonce, guest->our_nonce, rest))) {
    tell_once("a launcher at " + guest->address + " was refused: it has another token");
    refuse(guest, ExitCode::usage, "node 0 has another token");
  } else if (!join) {
    on_closed(guest, "it does not follow the protocol");
  } else {
    guest->join = std::move(*join);
    make_printable(guest->join);
    admit(guest);
  }
}

void Gathering::admit(GuestPlace guest) {
  const Join& join = guest->join;
  const std::string name = name_of(*guest), here = own_.host + " (node 0)";
  if (join.fault_code != 0) {
    refuse(guest, static_cast<ExitCode>(join.fault_code), join.fault);
    give_up(static_cast<ExitCode>(join.fault_code), name + " cannot start: " + join.fault);
  }
  if (const auto text = difference(own_, here, join, name); !text.empty()) {
    refuse(guest, ExitCode::usage, text);
    give_up(ExitCode::usage, text);
  }
  const auto owner = join.node_rank < 0 ? std::string() : owner_of(join.node_rank);
  const bool full = joined() == own_.nodes;
  if (join.node_rank >= own_.nodes || !owner.empty() || full) {
    const auto text = !owner.empty()
                          ? fmt::format("--node-rank {} is taken by {}", join.node_rank, owner)
                          : fmt::format("all {} hosts of the job have joined already", own_.nodes);
    tell_once(name + " was refused: " + text);
    refuse(guest, ExitCode::usage, text);
    return;
  }
  if (own_.run_id.empty()) own_.run_id = join.run_id;
  guest->state = Guest::State::joined;
  guest->patience.reset();
  guest->connection->allow(Connection::most_of_members);
  share_progress();
  if (joined() == own_.nodes) complete();
}

void Gathering::on_closed(GuestPlace guest, const std::string& why) {
  const bool was_joined = guest->state == Guest::State::joined;
  const bool left_at_token = guest->state == Guest::State::greeted && options_.token;
  const auto address = guest->address;
  const auto name = was_joined ? name_of(*guest) : "";
  guests_.erase(guest);
  if (was_joined) {
    options_.tell(name + " left again: " + why + "; waiting: " + progress());
    share_progress();
  } else if (left_at_token) {
    tell_once("a launcher at " + address + " left: it has no token, or another one");
  }
}

void Gathering::refuse(GuestPlace guest, ExitCode code, const std::string& text) {
  guest->state = Guest::State::refused;
  guest->connection->send(MessageKind::refusal, encode(Notice{static_cast<int>(code), text}));
  guest->connection->finish();
}

void Gathering::tell_once(const std::string& text) {
  if (++told_ <= most_told) options_.tell(text);
}

void Gathering::give_up(ExitCode code, const std::string& text) {
  for (Guest& guest : guests_) {
    if (guest.state == Guest::State::joined)
      guest.connection->send(MessageKind::refusal, encode(Notice{static_cast<int>(code), text}));
  }
  if (code == ExitCode::usage) throw ConfigError(text);
  throw Error(text, code);
}

void Gathering::on_deadline() {
  const auto limit = std::chrono::duration<double>(options_.timeout).count();
  give_up(ExitCode::timed_out,
          fmt::format("after {:g} s ({}) at {}: {}", limit,
                      options_.names.of("launch.rdzv_timeout"), options_.place, progress()));
}

std::string Gathering::owner_of(int node_rank) const {
  if (node_rank == 0) return own_.host + " (node 0)";
  const auto owner = std::ranges::find_if(guests_, [&](const Guest& guest) {
    return guest.state == Guest::State::joined && guest.join.node_rank == node_rank;
  });
  return owner == guests_.end() ? "" : name_of(*owner);
}

std::string Gathering::name_of(const Guest& guest) const {
  return guest.join.host + " (" + guest.address + ")";
}

int Gathering::joined() const {
  return 1 + static_cast<int>(std::ranges::count_if(
                 guests_, [](const Guest& guest) { return guest.state == Guest::State::joined; }));
}

std::string Gathering::progress() const {
  const int there = joined(), missing = own_.nodes - there;
  std::vector<int> unclaimed;
  bool any_may_come = false;
  for (const Guest& guest : guests_) {
    any_may_come =
        any_may_come || (guest.state == Guest::State::joined && guest.join.node_rank < 0);
  }
  for (int node = 1; node < own_.nodes; ++node) {
    if (owner_of(node).empty()) unclaimed.push_back(node);
  }
  auto text =
      fmt::format("{} of {} hosts {} joined", there, own_.nodes, there == 1 ? "has" : "have");
  if (missing == 0) return text;
  constexpr std::size_t most_named = 16;
  if (any_may_come || unclaimed.size() > most_named)
    return text + fmt::format(", {} {} missing", missing, missing == 1 ? "is" : "are");
  return text + fmt::format(", node rank{} {} {} missing", missing == 1 ? "" : "s",
                            fmt::join(unclaimed, ", "), missing == 1 ? "is" : "are");
}

std::string Gathering::words_for(std::int32_t node_rank) const {
  const auto owner = node_rank < 0 ? std::string() : owner_of(node_rank);
  if (owner.empty()) return progress();
  return fmt::format("--node-rank {} is taken by {}; {}", node_rank, owner, progress());
}

void Gathering::share_progress() {
  const auto notice = encode(Notice{0, progress()});
  for (Guest& guest : guests_) {
    if (guest.state == Guest::State::joined) guest.connection->send(MessageKind::progress, notice);
  }
}

std::vector<Gathering::GuestPlace> Gathering::in_node_order() {
  std::vector<GuestPlace> order(static_cast<std::size_t>(own_.nodes), guests_.end());
  for (auto guest = guests_.begin(); guest != guests_.end(); ++guest) {
    if (guest->state == Guest::State::joined && guest->join.node_rank > 0)
      order[static_cast<std::size_t>(guest->join.node_rank)] = guest;
  }
  for (auto guest = guests_.begin(); guest != guests_.end(); ++guest) {
    if (guest->state != Guest::State::joined || guest->join.node_rank > 0) continue;
    *std::find(order.begin() + 1, order.end(), guests_.end()) = guest;
  }
  return order;
}

void Gathering::complete() {
  arrivals_.reset();
  // No more connections, but the port stays ours: a rank that comes early is refused, and tries
  // again until rank 0's store listens here.
  ::shutdown(port_.socket.get(), SHUT_RD);
  const auto order = in_node_order();
  const auto ranks_of = [this](const Join& join, int node) {
    return own_.total > 0 ? share_of(own_.total, own_.nodes, node) : join.ranks;
  };
  auto& nodes = meeting_.nodes;
  nodes.push_back({own_.host, port_.address, ranks_of(own_, 0)});
  for (int node = 1; node < own_.nodes; ++node) {
    const auto& guest = *order[static_cast<std::size_t>(node)];
    nodes.push_back({guest.join.host, guest.address, ranks_of(guest.join, node)});
  }
  if (own_.run_id.empty()) own_.run_id = options_.new_run_id;
  meeting_.run_id = own_.run_id;
  for (int node = 1; node < own_.nodes; ++node) {
    auto& connection = *order[static_cast<std::size_t>(node)]->connection;
    connection.send(MessageKind::welcome, encode(Welcome{own_.run_id, node, nodes}));
    meeting_.peers.push_back(connection.release());
  }
  meeting_.master_addr = port_.address;
  meeting_.port = std::move(port_);
  door_->close();
  meeting_.door = std::move(door_);
  loop_.stop();
}

}  // namespace muster::launcher
