#pragma once

#include "communicators/gloo/links.hpp"
#include "communicators/gloo/memory.hpp"

#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster::gloo {

/// Last words. Each rank always has a receive posted from each peer for the one message that a peer
/// sends before it closes its connections, so that it can be read afterwards. Any thread may call.
class Farewell {
 public:
  Farewell(Links& links, int rank, int size);

  /// Tells all peers, waiting a moment at most until it is out. Once; later calls do nothing.
  void say(LastWord word, std::string_view text) noexcept;

  /// Does not block.
  News news(int peer);

 private:
  static constexpr std::size_t message_bytes = 2048;
  char* message(int peer) const;

  Links& links_;
  int rank_;
  int size_;
  Memory memory_;  ///< A message a peer; this rank's own place has what it says.
  std::mutex mutex_;
  bool said_ = false;
  std::vector<Ticket> receives_;
  std::vector<bool> lost_;
};

}  // namespace muster::gloo
