#include "doorkeeper.hpp"

#include "rendezvous/frame.hpp"

#include <string_view>
#include <sys/socket.h>

namespace muster::launcher {

Doorkeeper::Doorkeeper(Endpoint endpoint, Token token)
    : socket_(::socket(endpoint.family(), SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)),
      token_(std::move(token)) {
  if (::bind(socket_.get(), endpoint.get(), endpoint.size) != 0) socket_.reset();
}

void Doorkeeper::open(EventLoop& loop, Say say) {
  say_ = std::move(say);
  if (!socket_) return;
  readable_ = loop.watch(socket_.get(), EventLoop::Direction::readable, [this] { on_readable(); });
}

void Doorkeeper::on_readable() {
  char buffer[inquiry_bytes + 1];
  Endpoint from;
  from.size = sizeof from.storage;
  const ssize_t size = ::recvfrom(socket_.get(), buffer, sizeof buffer, 0, from.get(), &from.size);
  if (size != static_cast<ssize_t>(inquiry_bytes)) return;
  const auto answer = answer_to({buffer, inquiry_bytes});
  if (!answer.empty())
    ::sendto(socket_.get(), answer.data(), answer.size(), 0, from.get(), from.size);
}

std::string Doorkeeper::answer_to(std::string_view datagram) const {
  if (!frame_fault(datagram, inquiry_bytes - frame_header_bytes).empty()) return "";
  const auto frame = frame_in(datagram);
  if (frame.protocol != rendezvous_protocol || frame.kind != MessageKind::inquiry) return "";
  auto inquiry = decode<Inquiry>(frame.payload);
  if (!inquiry) return "";
  const auto proof = std::exchange(inquiry->proof, {});
  auto [standing, text] = say_(inquiry->node_rank);
  Answer answer{inquiry->nonce, bool(token_), standing, std::move(text), {}};
  if (token_) {
    if (!equal(proof, proof_of_inquiry(token_, encode(*inquiry)))) answer.text.clear();
    answer.proof = proof_of_answer(token_, encode(answer));
  }
  const auto payload = encode(answer);
  return frame_header(MessageKind::answer, payload.size()) + payload;
}

}  // namespace muster::launcher
