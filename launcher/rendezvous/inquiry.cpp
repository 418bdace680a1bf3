#include "inquiry.hpp"

#include "rendezvous/doorkeeper.hpp"
#include "rendezvous/frame.hpp"
#include "screen/printable.hpp"

#include <cerrno>
#include <poll.h>
#include <sys/socket.h>

namespace muster::launcher {

OpenInquiry::OpenInquiry(const Endpoint& node_0, std::int32_t node_rank, const Token& token)
    : socket_(::socket(node_0.family(), SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)),
      nonce_(random_nonce()) {
  Inquiry inquiry{nonce_, node_rank, {}};
  if (token) inquiry.proof = proof_of_inquiry(token, encode(inquiry));
  const auto payload = encode(inquiry);
  auto datagram = frame_header(MessageKind::inquiry, payload.size()) + payload;
  datagram.resize(inquiry_bytes);
  lost_ = ::connect(socket_.get(), node_0.get(), node_0.size) != 0 ||
          ::send(socket_.get(), datagram.data(), datagram.size(), 0) < 0;
}

std::optional<Answer> OpenInquiry::answer() {
  char buffer[inquiry_bytes];
  const ssize_t size = ::recv(socket_.get(), buffer, sizeof buffer, MSG_DONTWAIT);
  lost_ = size < 0 && errno != EAGAIN && errno != EINTR;
  if (size <= 0) return std::nullopt;
  const std::string_view bytes(buffer, static_cast<std::size_t>(size));
  if (!frame_fault(bytes, inquiry_bytes).empty() || frame_bytes(bytes) != bytes.size())
    return std::nullopt;
  const auto frame = frame_in(bytes);
  if (frame.protocol != rendezvous_protocol || frame.kind != MessageKind::answer)
    return std::nullopt;
  auto answer = decode<Answer>(frame.payload);
  return answer && answer->nonce == nonce_ ? answer : std::nullopt;
}

std::optional<Answer> OpenInquiry::wait(std::chrono::milliseconds limit) {
  const auto end = std::chrono::steady_clock::now() + limit;
  while (!lost_) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        end - std::chrono::steady_clock::now());
    pollfd ready{socket_.get(), POLLIN, 0};
    if (left.count() <= 0 || ::poll(&ready, 1, static_cast<int>(left.count())) == 0) break;
    if (auto found = answer()) return found;
  }
  return std::nullopt;
}

std::string refusal_of(const Answer& answer, const std::string& place, const Token& token) {
  const auto node_0 = "node 0 at " + place;
  if (token) {
    auto rest = answer;
    rest.proof = {};
    if (!answer.token)
      return token.from + ": " + node_0 + " has no token; give one to all hosts or to none";
    // What it says then may be anybody's.
    if (!equal(answer.proof, proof_of_answer(token, encode(rest))))
      return token.from + ": " + node_0 + " has another token";
  }
  constexpr std::size_t longest = 1000;
  const auto text = answer.text.empty()
                        ? "its job has all its hosts, and tells more to who has its token"
                        : printable(answer.text, longest);
  return node_0 + ": " + text + "; another job needs another --master-port";
}

}  // namespace muster::launcher
