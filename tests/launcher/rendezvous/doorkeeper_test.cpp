#include "rendezvous/doorkeeper.hpp"

#include "port.hpp"
#include "rendezvous/frame.hpp"
#include "rendezvous/inquiry.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <future>
#include <random>
#include <sys/socket.h>

namespace muster::launcher {
namespace {

using Catch::Matchers::ContainsSubstring;

/// A doorkeeper at work, until this is destroyed.
class Door {
 public:
  explicit Door(const std::string& secret = "", Doorkeeper::Words words = {Standing::runs, "full"})
      : endpoint_(*literal_endpoint("127.0.0.1", reserve_port("127.0.0.1", 0).port)),
        work_(std::async(std::launch::async, [this, secret, words = std::move(words)] {
          EventLoop loop;
          Doorkeeper doorkeeper(endpoint_, {secret, "the token", ""});
          doorkeeper.open(loop, [words](std::int32_t node_rank) {
            return Doorkeeper::Words{words.standing, words.text + " " + std::to_string(node_rank)};
          });
          const auto timer = loop.timer();
          check_again(loop, *timer);
          opened_.set_value();
          loop.run();
        })) {
    opened_.get_future().wait();
  }
  Door(const Door&) = delete;
  Door& operator=(const Door&) = delete;
  ~Door() {
    over_ = true;
    work_.wait();
  }

  const Endpoint& endpoint() const { return endpoint_; }

 private:
  void check_again(EventLoop& loop, EventLoop::Timer& timer) {
    timer.set(std::chrono::milliseconds(20), [&] {
      if (over_) {
        loop.stop();
      } else {
        check_again(loop, timer);
      }
    });
  }

  Endpoint endpoint_;
  std::promise<void> opened_;
  std::atomic<bool> over_{false};
  std::future<void> work_;
};

constexpr std::chrono::seconds long_enough{40};

Token token_of(const std::string& secret) { return {secret, "the token", ""}; }

/// How long the answer to these bytes is; 0: there is none.
std::size_t answer_bytes(const Door& door, const std::string& datagram) {
  const UniqueFd socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  REQUIRE(::connect(socket.get(), door.endpoint().get(), door.endpoint().size) == 0);
  REQUIRE(::send(socket.get(), datagram.data(), datagram.size(), 0) >= 0);
  // Datagrams of loopback keep their order: once a later one is answered this one was looked at.
  REQUIRE(OpenInquiry(door.endpoint(), 1, {}).wait(long_enough));
  char buffer[65536];
  const ssize_t size = ::recv(socket.get(), buffer, sizeof buffer, MSG_DONTWAIT);
  return size < 0 ? 0 : static_cast<std::size_t>(size);
}

std::string inquiry() {
  const auto payload = encode(Inquiry{sha256("n"), 3, {}});
  auto datagram = frame_header(MessageKind::inquiry, payload.size()) + payload;
  datagram.resize(inquiry_bytes);
  return datagram;
}

}  // namespace

TEST_CASE("whoever asks node 0's doorkeeper is told what becomes of it") {
  const Door door;
  const auto answer = OpenInquiry(door.endpoint(), 3, {}).wait(long_enough);
  REQUIRE(answer);
  CHECK(answer->standing == Standing::runs);
  CHECK(answer->text == "full 3");
  CHECK(refusal_of(*answer, "a:1", {}) ==
        "node 0 at a:1: full 3; another job needs another --master-port");
}

TEST_CASE("a doorkeeper with a token tells strangers nothing, and strangers are not believed") {
  const std::string secret = "0123456789abcdef";
  const Door door(secret);
  const auto text = [&](const Door& at, const Token& token) {
    const auto answer = OpenInquiry(at.endpoint(), 1, token).wait(long_enough);
    REQUIRE(answer);
    return refusal_of(*answer, "a:1", token);
  };
  CHECK_THAT(text(door, token_of(secret)), ContainsSubstring("full 1"));
  CHECK_THAT(text(door, {}), ContainsSubstring("tells more to who has its token"));
  CHECK_THAT(text(door, {}), !ContainsSubstring("full"));
  CHECK(text(door, token_of("another token of it")) ==
        "the token: node 0 at a:1 has another token");
  const Door open;
  CHECK(text(open, token_of(secret)) ==
        "the token: node 0 at a:1 has no token; give one to all hosts or to none");
}

TEST_CASE("a doorkeeper answers inquiries only, and never with more than it was sent") {
  const Door door("", {Standing::runs, std::string(5000, 'x')});
  CHECK(answer_bytes(door, inquiry()) > 0);
  CHECK(answer_bytes(door, inquiry()) <= inquiry_bytes);
  CHECK(answer_bytes(door, inquiry().substr(0, inquiry_bytes - 1)) == 0);
  CHECK(answer_bytes(door, inquiry() + "x") == 0);
  CHECK(answer_bytes(door, "") == 0);
  CHECK(answer_bytes(door, std::string(inquiry_bytes, '\0')) == 0);
  std::minstd_rand random(3);
  for (int i = 0; i < 300; ++i) {
    auto damaged = inquiry();
    for (int k = 0; k < 4; ++k) damaged[random() % 60] = static_cast<char>(random());
    CHECK(answer_bytes(door, damaged) <= inquiry_bytes);
  }
}

TEST_CASE("nobody at the port is known at once, and an answer of somebody else is none") {
  const auto nobody = *literal_endpoint("127.0.0.1", reserve_port("127.0.0.1", 0).port);
  OpenInquiry question(nobody, 1, {});
  CHECK_FALSE(question.wait(long_enough));
  CHECK(question.lost());
  // Who knows the port and not the nonce.
  const UniqueFd liar(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  REQUIRE(::bind(liar.get(), nobody.get(), nobody.size) == 0);
  OpenInquiry asked(nobody, 1, {});
  auto from = local_endpoint(asked.socket());
  const auto payload = encode(Answer{sha256("guess"), false, Standing::runs, "go away", {}});
  const auto lie = frame_header(MessageKind::answer, payload.size()) + payload;
  REQUIRE(::sendto(liar.get(), lie.data(), lie.size(), 0, from.get(), from.size) > 0);
  CHECK_FALSE(asked.wait(std::chrono::milliseconds(50)));
}

}  // namespace muster::launcher
