#include "communicators/gloo/farewell.hpp"

#include "communicators/gloo/tags.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>

namespace muster::gloo {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

struct Words {
  LastWord word;
  std::uint32_t length;
  char text[2028];
  std::uint32_t check;  ///< Comes last, so the rest is here when this is.
};

constexpr std::uint32_t complete = 0x66617265;

/// A peer that does not read cannot hold up who is failing. Who leaves has data before its word
/// which a slow peer is still to read, and which would go with the connections.
milliseconds patience(LastWord word) {
  return word == LastWord::leaving ? milliseconds(500) : milliseconds(50);
}

}  // namespace

Farewell::Farewell(Links& links, int rank, int size)
    : links_(links),
      rank_(rank),
      size_(size),
      memory_(message_bytes * static_cast<std::size_t>(size)),
      receives_(static_cast<std::size_t>(size)),
      lost_(static_cast<std::size_t>(size), false) {
  static_assert(sizeof(Words) <= message_bytes);
  for (int peer = 0; peer < size; ++peer) {
    if (peer != rank) {
      receives_[static_cast<std::size_t>(peer)] =
          links.receive(peer, tag::goodbye, message(peer), sizeof(Words));
    }
  }
}

char* Farewell::message(int peer) const {
  return memory_.data() + message_bytes * static_cast<std::size_t>(peer);
}

void Farewell::say(LastWord word, std::string_view text) noexcept {
  std::vector<Ticket> sends;
  {
    const std::lock_guard lock(mutex_);
    if (said_) {
      return;
    }
    said_ = true;
    auto& own = *reinterpret_cast<Words*>(message(rank_));
    own.word = word;
    own.length = static_cast<std::uint32_t>(std::min(text.size(), sizeof(own.text)));
    std::memcpy(own.text, text.data(), own.length);
    own.check = complete;
  }
  for (int peer = 0; peer < size_; ++peer) {
    try {
      if (peer != rank_) {
        sends.push_back(links_.send(peer, tag::goodbye, message(rank_), sizeof(Words)));
      }
    } catch (const PeerLost&) {
      // Nobody to tell.
    }
  }
  const auto end = Clock::now() + patience(word);
  for (const auto& send : sends) {
    try {
      const auto left = std::chrono::duration_cast<milliseconds>(end - Clock::now());
      links_.wait(send, std::max(left, milliseconds(1)));
    } catch (const PeerLost&) {
      // Not heard: the peer will see that the connection is gone.
    }
  }
  // The tickets of what is not out yet must live until the links are closed.
  const std::lock_guard lock(mutex_);
  receives_.insert(receives_.end(), sends.begin(), sends.end());
}

News Farewell::news(int peer) {
  const auto index = static_cast<std::size_t>(peer);
  const std::lock_guard lock(mutex_);
  if (!lost_[index]) {
    try {
      links_.probe(receives_[index]);
    } catch (const PeerLost&) {
      lost_[index] = true;
    }
  }
  News news;
  news.lost = lost_[index];
  auto& said = *reinterpret_cast<Words*>(message(peer));
  if (std::atomic_ref(said.check).load(std::memory_order_acquire) == complete) {
    news.word = said.word;
    news.text.assign(said.text, std::min<std::size_t>(said.length, sizeof(said.text)));
  }
  return news;
}

}  // namespace muster::gloo
