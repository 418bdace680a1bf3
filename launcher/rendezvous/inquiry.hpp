#pragma once

#include "endpoint.hpp"
#include "rendezvous/messages.hpp"
#include "rendezvous/token.hpp"
#include "unique_fd.hpp"

#include <chrono>
#include <optional>
#include <string>

namespace muster::launcher {

/// A question to the Doorkeeper of node 0, which is on its way, or was lost.
class OpenInquiry {
 public:
  OpenInquiry() = default;
  /// Asks what becomes of a launcher that would be node `node_rank` (-1: any).
  OpenInquiry(const Endpoint& node_0, std::int32_t node_rank, const Token& token);

  /// Readable when there may be an answer.
  int socket() const noexcept { return socket_.get(); }
  /// It could not be sent, or nobody has that port.
  bool lost() const noexcept { return lost_; }
  /// The answer, once; nothing for what is none. Does not block.
  std::optional<Answer> answer();
  /// Blocks until it is there, or `limit` is over, or the question is lost.
  std::optional<Answer> wait(std::chrono::milliseconds limit);

 private:
  UniqueFd socket_;
  Digest nonce_{};
  bool lost_ = true;
};

/// Why the launcher that node 0 gave this answer cannot join, with what would work.
std::string refusal_of(const Answer& answer, const std::string& place, const Token& token);

}  // namespace muster::launcher
