#include "rendezvous/gathering.hpp"

#include "rendezvous/joining.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <atomic>
#include <future>
#include <mutex>
#include <netinet/in.h>
#include <random>
#include <sys/socket.h>
#include <unistd.h>

namespace muster::launcher {
namespace {

using std::string_literals::operator""s;

constexpr std::chrono::seconds long_enough{60};

Join join_of(const std::string& host, int nodes, int node_rank = -1, int ranks = 1) {
  Join join;
  join.version = "test";
  join.host = host;
  join.nodes = nodes;
  join.node_rank = node_rank;
  join.ranks = ranks;
  return join;
}

/// Lines that were told, by any thread.
class Told {
 public:
  void add(const std::string& text) {
    const std::scoped_lock lock(mutex_);
    text_ += text + "\n";
  }
  std::string text() const {
    const std::scoped_lock lock(mutex_);
    return text_;
  }

 private:
  mutable std::mutex mutex_;
  std::string text_;
};

struct Host {
  Told told;
  MeetingOptions options;
  std::future<Meeting> meeting;

  explicit Host(const std::string& secret = "", std::chrono::nanoseconds timeout = long_enough) {
    options.place = "here";
    options.timeout = timeout;
    options.token = {secret, "the token", ""};
    options.new_run_id = "made-up";
    options.tell = [this](const std::string& text) { told.add(text); };
  }
};

/// Node 0 on a free port of loopback.
struct Middle : Host {
  using Host::Host;

  std::uint16_t gather(const Join& own) {
    // One that is named, as a person does: the kernel gives a chosen one back at the end.
    const auto number = reserve_port("127.0.0.1", 0).port;
    auto port = reserve_port("127.0.0.1", number);
    meeting = std::async(std::launch::async, [this, own, port = std::move(port)]() mutable {
      return Gathering(std::move(port), own, options).run();
    });
    return number;
  }
};

struct Other : Host {
  using Host::Host;

  void join(std::uint16_t port, const Join& own) {
    meeting = std::async(std::launch::async, [this, port, own] {
      return Joining({*literal_endpoint("127.0.0.1", port)}, own, options).run();
    });
  }
};

std::string fault_of(std::future<Meeting>& meeting, ExitCode& code) {
  try {
    meeting.get();
  } catch (const Error& error) {
    code = error.exit_code();
    return error.what();
  }
  return "";
}

UniqueFd connected(std::uint16_t port) {
  UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  auto endpoint = *literal_endpoint("127.0.0.1", port);
  // It may not listen yet.
  for (int i = 0; i < 5000; ++i) {
    if (::connect(socket.get(), endpoint.get(), endpoint.size) == 0) return socket;
    ::usleep(1000);
  }
  FAIL("nobody listens");
  return socket;
}

void say(const UniqueFd& socket, std::string_view text) {
  static_cast<void>(::send(socket.get(), text.data(), text.size(), MSG_NOSIGNAL));
}

/// Reads until the end; false if it does not come.
bool is_sent_away(const UniqueFd& socket) {
  const timeval patience{40, 0};
  ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  char buffer[256];
  ssize_t size = 0;
  while ((size = ::recv(socket.get(), buffer, sizeof buffer, 0)) > 0) {
  }
  return size == 0 || errno == ECONNRESET;
}

std::string frame(MessageKind kind, const std::string& payload, std::uint8_t protocol = 1) {
  std::string bytes = "MSTR";
  bytes += static_cast<char>(protocol);
  bytes += static_cast<char>(kind);
  bytes.append(2, '\0');
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(payload.size() >> shift);
  return bytes + payload;
}

}  // namespace

TEST_CASE("hosts meet, and know the same of each other") {
  Middle middle;
  Other last, first;
  const auto port = middle.gather(join_of("a", 3, 0, 3));
  last.join(port, join_of("c", 3, 2, 2));
  first.join(port, join_of("b", 3, -1, 1));
  const auto zero = middle.meeting.get(), one = first.meeting.get(), two = last.meeting.get();
  CHECK(zero.node_rank == 0);
  CHECK(one.node_rank == 1);
  CHECK(two.node_rank == 2);
  for (const auto* meeting : {&zero, &one, &two}) {
    CHECK(meeting->run_id == "made-up");
    CHECK(meeting->master_addr == "127.0.0.1");
    CHECK(meeting->port.port == port);
    REQUIRE(meeting->nodes.size() == 3);
    CHECK(meeting->nodes[2].host == "c");
    CHECK(meeting->world_size() == 6);
  }
  CHECK(two.first_rank() == 4);
  CHECK(zero.peers.size() == 2);
  CHECK(one.peers.size() == 1);
}

TEST_CASE("when all are there the port is held and a store can listen on it") {
  Middle middle;
  Other other;
  const auto port = middle.gather(join_of("a", 2, 0));
  other.join(port, join_of("b", 2));
  const auto here = middle.meeting.get(), there = other.meeting.get();
  const UniqueFd store(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  auto everywhere = *literal_endpoint("0.0.0.0", port);
  SECTION("nobody else can take it") {
    CHECK(::bind(store.get(), everywhere.get(), everywhere.size) != 0);
  }
  SECTION("a program's own") {
    const int on = 1;
    ::setsockopt(store.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    REQUIRE(::bind(store.get(), everywhere.get(), everywhere.size) == 0);
    REQUIRE(::listen(store.get(), 8) == 0);
    CHECK(connected(port));
  }
  SECTION("ours, on the socket itself") {
    REQUIRE(::listen(here.port.socket.get(), 8) == 0);
    CHECK(connected(port));
  }
  // The launchers' own connection lives on.
  send_frame(here.peers[0].socket.get(), MessageKind::kill, "");
  char byte = 0;
  CHECK(::recv(there.peers[0].socket.get(), &byte, 1, 0) == 1);
  CHECK(byte == 'M');
}

TEST_CASE("strangers are sent away, and keep nobody from joining") {
  const std::string secret = GENERATE_COPY(std::string(), std::string("0123456789abcdef"));
  Middle middle(secret);
  const auto port = middle.gather(join_of("a", 2, 0));
  std::vector<UniqueFd> silent;
  for (int i = 0; i < 100; ++i) silent.push_back(connected(port));  // More than are kept.
  const auto http = connected(port), longer = connected(port), wrong = connected(port);
  say(http, "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  say(longer, frame(MessageKind::hello, "").substr(0, 8) + "\x40\0\0\0"s);
  say(wrong, frame(MessageKind::join, encode(join_of("c", 2))));
  CHECK(is_sent_away(http));
  CHECK(is_sent_away(longer));
  CHECK(is_sent_away(wrong));
  std::mt19937 random(7);
  std::uniform_int_distribution<int> byte(0, 255);
  for (int i = 0; i < 200; ++i) {
    std::string bytes = i % 2 == 0 ? "" : frame(MessageKind::hello, std::string(32, 'n'));
    for (int size = byte(random) + 40; size > 0; --size) bytes += static_cast<char>(byte(random));
    say(connected(port), bytes);
  }
  Other other(secret);
  other.join(port, join_of("b", 2));
  CHECK(other.meeting.get().node_rank == 1);
  CHECK(middle.meeting.get().nodes[1].host == "b");
}

TEST_CASE("who says nothing is sent away in the end") {
  Middle middle;
  middle.options.patience = std::chrono::seconds(1);
  const auto port = middle.gather(join_of("a", 2, 0));
  const auto silent = connected(port), slow = connected(port);
  say(slow, "MST");
  CHECK(is_sent_away(silent));
  CHECK(is_sent_away(slow));
  Other other;
  other.join(port, join_of("b", 2));
  CHECK(middle.meeting.get().nodes[1].host == "b");
  CHECK(other.meeting.get().node_rank == 1);
}

TEST_CASE("hosts that do not agree end with one message") {
  Middle middle;
  Other other;
  const auto port = middle.gather(join_of("a", 2, 0));
  other.join(port, join_of("b", 3));
  ExitCode here{}, there{};
  const auto fault = fault_of(middle.meeting, here);
  CHECK(fault == "the hosts do not agree on --nnodes: a (node 0) has 2, b (127.0.0.1) has 3");
  CHECK(fault_of(other.meeting, there) == "node 0 at here: " + fault);
  CHECK(here == ExitCode::usage);
  CHECK(there == ExitCode::usage);
}

TEST_CASE("a launcher of another protocol is told so, and so is node 0") {
  Middle middle;
  const auto port = middle.gather(join_of("a", 2, 0));
  const auto other = connected(port);
  say(other, frame(MessageKind::hello, "whatever", 9));
  CHECK(is_sent_away(other));
  ExitCode code{};
  const auto fault = fault_of(middle.meeting, code);
  CHECK(fault.find("127.0.0.1 has another version of muster") == 0);
  CHECK(code == ExitCode::usage);
}

TEST_CASE("a node rank is taken once, and the right host can still come") {
  Middle middle;
  Other first, second, two;
  const auto port = middle.gather(join_of("a", 3, 0));
  first.join(port, join_of("b", 3, 1));
  second.join(port, join_of("b", 3, 1));
  const auto is_ready = [](const Other& other) {
    return other.meeting.wait_for(std::chrono::milliseconds(10)) == std::future_status::ready;
  };
  while (!is_ready(first) && !is_ready(second)) {
  }
  auto& refused = is_ready(first) ? first : second;
  auto& one = is_ready(first) ? second : first;
  ExitCode code{};
  CHECK(fault_of(refused.meeting, code) ==
        "node 0 at here: --node-rank 1 is taken by b (127.0.0.1)");
  CHECK(code == ExitCode::usage);
  CHECK(middle.told.text().find("b (127.0.0.1) was refused: --node-rank 1 is taken by b") !=
        std::string::npos);
  two.join(port, join_of("d", 3, 2));
  CHECK(middle.meeting.get().nodes[2].host == "d");
  CHECK(one.meeting.get().node_rank == 1);
  CHECK(two.meeting.get().node_rank == 2);
}

TEST_CASE("a host that does not come is named, to those who have joined as well") {
  Middle middle("", std::chrono::milliseconds(1500));
  Other other;
  const auto port = middle.gather(join_of("a", 4, 0));
  other.join(port, join_of("c", 4, 2));
  ExitCode here{}, there{};
  const auto fault = fault_of(middle.meeting, here);
  CHECK(fault ==
        "after 1.5 s (--rdzv-timeout) at here: 2 of 4 hosts have joined, node ranks 1, 3 are "
        "missing");
  CHECK(fault_of(other.meeting, there) == "node 0 at here: " + fault);
  CHECK(here == ExitCode::timed_out);
  CHECK(there == ExitCode::timed_out);
}

TEST_CASE("node 0 that does not come is waited for until the time is over") {
  const auto port = reserve_port("127.0.0.1", 0);
  Other other("", std::chrono::milliseconds(300));
  other.join(port.port, join_of("b", 2));
  ExitCode code{};
  CHECK(fault_of(other.meeting, code) ==
        "after 0.3 s (--rdzv-timeout): no launcher of node 0 has answered at here (127.0.0.1:" +
            std::to_string(port.port) + ": Connection refused)");
  CHECK(code == ExitCode::timed_out);
}

TEST_CASE("a host that leaves before all are there can come back") {
  Middle middle;
  const auto port = middle.gather(join_of("a", 3, 0));
  {
    Other leaving("", std::chrono::milliseconds(700));
    leaving.join(port, join_of("b", 3, 1));
    ExitCode code{};
    const auto fault = fault_of(leaving.meeting, code);
    CHECK(fault ==
          "after 0.7 s (--rdzv-timeout): node 0 at here says: 2 of 3 hosts have joined, node rank "
          "2 is missing");
  }
  Other one, two;
  two.join(port, join_of("c", 3, 2));
  one.join(port, join_of("b", 3, 1));
  CHECK(middle.meeting.get().nodes[1].host == "b");
  one.meeting.get();
  two.meeting.get();
}

TEST_CASE("only who has the token joins") {
  const std::string right = "0123456789abcdef";
  Middle middle(right);
  const auto port = middle.gather(join_of("a", 2, 0));
  ExitCode code{};
  Other wrong("0123456789abcdeX"), none;
  wrong.join(port, join_of("b", 2));
  CHECK(fault_of(wrong.meeting, code) == "the token: node 0 at here has another token");
  CHECK(code == ExitCode::usage);
  none.join(port, join_of("b", 2));
  CHECK(fault_of(none.meeting, code) ==
        "node 0 at here asks for its token: --token-file FILE, or MUSTER_TOKEN");
  // Who does not care what node 0 proves, and sends a proof of its own making.
  const auto liar = connected(port);
  say(liar, frame(MessageKind::hello, encode(Hello{})));
  say(liar, frame(MessageKind::join, std::string(32, 'x') + encode(join_of("b", 2))));
  CHECK(is_sent_away(liar));
  Other other(right);
  other.join(port, join_of("b", 2));
  CHECK(other.meeting.get().node_rank == 1);
  CHECK(middle.meeting.get().nodes[1].host == "b");
}

TEST_CASE("a token that node 0 does not ask for is not shown to it") {
  Middle middle("", std::chrono::seconds(2));
  const auto port = middle.gather(join_of("a", 2, 0));
  Other other("0123456789abcdef");
  other.join(port, join_of("b", 2));
  ExitCode code{};
  CHECK(fault_of(other.meeting, code) ==
        "the token: node 0 at here has no token; give one to all hosts or to none");
  CHECK(code == ExitCode::usage);
  fault_of(middle.meeting, code);
  CHECK(code == ExitCode::timed_out);
}

TEST_CASE("what answers on the port and is not muster's is told as such") {
  const UniqueFd listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  auto any = *literal_endpoint("127.0.0.1", 0);
  REQUIRE(::bind(listener.get(), any.get(), any.size) == 0);
  REQUIRE(::listen(listener.get(), 64) == 0);
  const auto port = local_endpoint(listener.get()).port();
  std::atomic<bool> over{false};
  auto server = std::async(std::launch::async, [&] {
    while (!over) {
      const UniqueFd guest(::accept(listener.get(), nullptr, nullptr));
      say(guest, "220 mail.example ESMTP\r\n");
    }
  });
  Other other;
  other.options.patience = std::chrono::milliseconds(300);
  other.join(port, join_of("b", 2, 1));
  ExitCode code{};
  CHECK(fault_of(other.meeting, code) ==
        "here answers, but not as a launcher that waits for hosts (what it sends is not muster's: "
        "'220 mail.example ESMTP'): its job has all its hosts already, or another program has the "
        "port");
  CHECK(code == ExitCode::usage);
  over = true;
  connected(port);
  server.get();
}

TEST_CASE("a host that cannot start its program ends all") {
  Middle middle;
  Other other;
  const auto port = middle.gather(join_of("a", 2, 0));
  auto own = join_of("b", 2);
  own.fault_code = 127;
  own.fault = "no such program: x";
  other.join(port, own);
  ExitCode code{};
  CHECK(fault_of(middle.meeting, code) == "b (127.0.0.1) cannot start: no such program: x");
  CHECK(code == ExitCode::not_found);
  fault_of(other.meeting, code);
  CHECK(code == ExitCode::not_found);
}

}  // namespace muster::launcher
