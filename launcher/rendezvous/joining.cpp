#include "joining.hpp"

#include "rendezvous/interruption.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sys/socket.h>

namespace muster::launcher {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using Clock = std::chrono::steady_clock;

constexpr milliseconds first_pause{50}, longest_pause{1000};
constexpr seconds hint_time{5};
/// In which another launcher of this host, which has taken the port, begins to listen.
constexpr seconds takers_patience{2};

bool passed(std::optional<Clock::time_point>& since, std::chrono::nanoseconds limit) {
  if (!since) since = Clock::now();
  return Clock::now() - *since >= limit;
}

bool is_sound(const Welcome& welcome, const Join& own) {
  const auto count = static_cast<std::int32_t>(welcome.nodes.size());
  if (count != own.nodes || welcome.node_rank < 1 || welcome.node_rank >= count) return false;
  if (own.node_rank >= 0 && own.node_rank != welcome.node_rank) return false;
  constexpr std::int32_t most_ranks = 1'000'000;
  std::int64_t sum = 0;
  for (const Node& node : welcome.nodes) {
    if (node.ranks < 1 || node.ranks > most_ranks) return false;
    sum += node.ranks;
  }
  const auto here = welcome.nodes[static_cast<std::size_t>(welcome.node_rank)].ranks;
  const bool as_asked =
      own.total > 0 ? sum == own.total && here == share_of(own.total, count, welcome.node_rank)
                    : here == own.ranks;
  return as_asked && sum <= most_ranks;
}

}  // namespace

Joining::Joining(std::vector<Endpoint> addresses, Join own, const MeetingOptions& options,
                 std::optional<std::string> taken)
    : addresses_(std::move(addresses)),
      own_(std::move(own)),
      options_(options),
      taken_(std::move(taken)) {}

Meeting Joining::run() {
  const Interruption interruption(
      loop_, [this] { return status(); }, options_.tell);
  patience_ = loop_.timer();
  pause_ = loop_.timer();
  deadline_ = loop_.timer();
  deadline_->set(options_.timeout, [this] { on_deadline(); });
  hint_ = loop_.timer();
  hint_->set(hint_time, [this] { options_.tell("waiting: " + status()); });
  pause_->set(milliseconds(0), [this] { attempt(); });
  loop_.run();
  return std::move(meeting_);
}

void Joining::attempt() {
  answered_ = false;
  progress_.clear();
  ask();
  socket_.reset(::socket(address().family(), SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket_) {
    try_again(std::strerror(errno), false);
    return;
  }
  tune_connection(socket_.get());
  if (::connect(socket_.get(), address().get(), address().size) != 0 && errno != EINPROGRESS) {
    try_again(std::strerror(errno), false);
    return;
  }
  patience_->set(options_.patience, [this] { try_again("no answer", false); });
  connecting_ =
      loop_.watch(socket_.get(), EventLoop::Direction::writable, [this] { on_connected(); });
}

void Joining::ask() {
  asked_.reset();
  ends_for_ = std::max(ends_for_ - 1, 0);
  inquiry_ = OpenInquiry(address(), own_.node_rank, options_.token);
  if (inquiry_.lost()) return;
  asked_ = loop_.watch(inquiry_.socket(), EventLoop::Direction::readable, [this] {
    if (const auto answer = inquiry_.answer()) on_answer(*answer);
    if (!inquiry_.lost()) return;
    ends_for_ = 0;
    asked_.reset();
  });
}

void Joining::on_answer(const Answer& answer) {
  if (answer.standing == Standing::runs)
    throw ConfigError(refusal_of(answer, options_.place, options_.token));
  ends_for_ = answer.standing == Standing::ends ? 2 : 0;
  if (ends_for_ > 0)
    why_not_ = peer_endpoint(inquiry_.socket()).text() + ": a job that is ending has the port";
}

void Joining::on_connected() {
  connecting_.reset();
  int error = 0;
  socklen_t size = sizeof error;
  ::getsockopt(socket_.get(), SOL_SOCKET, SO_ERROR, &error, &size);
  if (error == 0 && local_endpoint(socket_.get()) == peer_endpoint(socket_.get()))
    error = ECONNREFUSED;  // The kernel gave us the very port, and connected us to ourselves.
  if (error != 0) {
    try_again(std::strerror(error), false);
    return;
  }
  greet();
}

void Joining::greet() {
  connection_ = std::make_unique<Connection>(loop_, OpenConnection{std::move(socket_), {}},
                                             Connection::most_of_strangers);
  nonce_ = random_nonce();
  connection_->start([this](const Frame& frame) { on_frame(frame); },
                     [this](const std::string& why, std::int64_t) {
                       try_again(answered_ ? "node 0: " + why : why, !answered_);
                     });
  connection_->send(MessageKind::hello, encode(Hello{nonce_}));
  patience_->set(options_.patience, [this] { try_again("it does not answer", !answered_); });
}

void Joining::on_frame(const Frame& frame) {
  const auto challenge =
      frame.kind == MessageKind::challenge ? decode<Challenge>(frame.payload) : std::nullopt;
  const auto welcome =
      frame.kind == MessageKind::welcome ? decode<Welcome>(frame.payload) : std::nullopt;
  const bool is_notice = frame.kind == MessageKind::refusal || frame.kind == MessageKind::progress;
  const auto notice = is_notice ? decode<Notice>(frame.payload) : std::nullopt;
  if (notice && frame.kind == MessageKind::refusal) {
    on_refusal(*notice);
  } else if (challenge && !answered_ && frame.protocol == rendezvous_protocol) {
    on_challenge(*challenge);
  } else if (notice && answered_) {
    patience_->cancel();
    progress_ = notice->text;
  } else if (welcome && answered_ && is_sound(*welcome, own_)) {
    on_welcome(*welcome);
  } else {
    try_again("what it sends is not as agreed", true);
  }
}

void Joining::on_challenge(const Challenge& challenge) {
  if (options_.token && !challenge.token) {
    throw ConfigError(options_.token.from + ": node 0 at " + options_.place +
                      " has no token; give one to all hosts or to none");
  }
  if (!options_.token && challenge.token) {
    throw ConfigError("node 0 at " + options_.place +
                      " asks for its token: --token-file FILE, or MUSTER_TOKEN");
  }
  // Before we tell it anything of the job: it may be somebody else who has the address.
  if (options_.token &&
      !equal(challenge.proof, proof_of_host(options_.token, nonce_, challenge.nonce))) {
    throw ConfigError(options_.token.from + ": node 0 at " + options_.place + " has another token");
  }
  answered_ = true;
  asked_.reset();  // What it says now it says here.
  ends_for_ = 0;
  strange_since_.reset();
  connection_->allow(Connection::most_of_members);
  const auto join = encode(own_);
  const auto proof =
      options_.token ? proof_of_guest(options_.token, nonce_, challenge.nonce, join) : Digest{};
  connection_->send(MessageKind::join, std::string(bytes_of(proof)) + join);
}

void Joining::on_welcome(const Welcome& welcome) {
  meeting_.run_id = welcome.run_id;
  meeting_.node_rank = welcome.node_rank;
  meeting_.nodes = welcome.nodes;
  const Endpoint node_0 = peer_endpoint(connection_->socket());
  meeting_.master_addr = node_0.address();
  meeting_.port.port = node_0.port();
  meeting_.peers.push_back(connection_->release());
  loop_.stop();
}

void Joining::on_refusal(const Notice& notice) {
  const auto code = static_cast<ExitCode>(notice.exit_code);
  const auto text = "node 0 at " + options_.place + ": " + notice.text;
  if (code == ExitCode::usage) throw ConfigError(text);
  throw Error(text, code);
}

void Joining::try_again(const std::string& why, bool is_strange) {
  patience_->cancel();
  connecting_.reset();
  connection_.reset();
  socket_.reset();
  if (!progress_.empty()) options_.tell(why + "; trying to join again");
  if (ends_for_ == 0) why_not_ = address().text() + ": " + why;
  if (ends_for_ > 0) strange_since_ = refused_since_ = std::nullopt;
  if (is_strange && passed(strange_since_, 2 * options_.patience)) {
    if (taken_) throw PortTaken(*taken_);
    throw ConfigError(options_.place + " answers, but not as a launcher that waits for hosts (" +
                      why +
                      "): its job has all its hosts already, or another program has the port");
  }
  if (!is_strange) {
    strange_since_.reset();
    if (taken_ && passed(refused_since_, takers_patience)) throw PortTaken(*taken_);
  }
  ++at_;
  const auto round = static_cast<int>(at_ / addresses_.size());
  const auto pause = std::min(first_pause * (1 + round), longest_pause);
  pause_->set(at_ % addresses_.size() == 0 ? pause : milliseconds(0), [this] { attempt(); });
}

void Joining::on_deadline() {
  const auto limit = std::chrono::duration<double>(options_.timeout).count();
  throw Error(fmt::format("after {:g} s ({}): {}", limit, options_.names.of("launch.rdzv_timeout"),
                          status()),
              ExitCode::timed_out);
}

std::string Joining::status() const {
  if (!progress_.empty()) return "node 0 at " + options_.place + " says: " + progress_;
  return "no launcher of node 0 has answered at " + options_.place +
         (why_not_.empty() ? "" : " (" + why_not_ + ")");
}

}  // namespace muster::launcher
