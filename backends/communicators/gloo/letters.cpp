#include "communicators/gloo/letters.hpp"

#include "communicators/gloo/tags.hpp"

#include <algorithm>
#include <atomic>

namespace muster::gloo {
namespace {

constexpr std::size_t cache_line = 64;
static_assert(sizeof(Header) <= 4 * cache_line);
constexpr std::size_t data_offset = 4 * cache_line;

/// Large where there are few peers, so that all letters take little memory together.
std::size_t capacity_for(int size) {
  constexpr std::size_t together = 256 << 10;
  return std::clamp<std::size_t>(
      together / static_cast<std::size_t>(size) / cache_line * cache_line, 4 << 10, 128 << 10);
}

/// The transport's thread writes headers that we look at before it says that they are whole.
std::uint64_t peek(std::uint64_t& word) {
  return std::atomic_ref(word).load(std::memory_order_acquire);
}

}  // namespace

Letters::Letters(Links& links, int rank, int size)
    : links_(links),
      rank_(rank),
      size_(size),
      capacity_(capacity_for(size)),
      memory_(2 * static_cast<std::size_t>(size) * (data_offset + capacity_)),
      newest_(static_cast<std::size_t>(size)) {
  prepare();
}

char* Letters::letter(bool sent, int peer) const {
  const int index = (sent ? size_ : 0) + peer;
  return memory_.data() + (data_offset + capacity_) * static_cast<std::size_t>(index);
}

Header& Letters::outgoing(int peer) const { return *reinterpret_cast<Header*>(letter(true, peer)); }

char* Letters::outgoing_data(int peer) const { return letter(true, peer) + data_offset; }

const Header& Letters::incoming(int peer) const {
  return *reinterpret_cast<Header*>(letter(false, peer));
}

const char* Letters::incoming_data(int peer) const { return letter(false, peer) + data_offset; }

void Letters::prepare() {
  if (prepared_) {
    return;
  }
  prepared_ = true;
  receives_.assign(static_cast<std::size_t>(size_), nullptr);
  for (int peer = 0; peer < size_; ++peer) {
    if (peer != rank_) {
      reinterpret_cast<Header*>(letter(false, peer))->check = 0;
      try {
        receives_[static_cast<std::size_t>(peer)] =
            links_.receive(peer, tag::letter, letter(false, peer), data_offset + capacity_);
      } catch (const PeerLost&) {
        // The data of the collective that is under way may all be here. Who asks for more is told.
      }
    }
  }
}

void Letters::post() {
  for (int step = 1; step < size_; ++step) {  // Not all to rank 0 first.
    const int peer = (rank_ + step) % size_;
    const auto bytes = data_offset + outgoing(peer).inline_bytes;
    sends_.push_back(links_.send(peer, tag::letter, letter(true, peer), bytes));
  }
}

void Letters::await() {
  for (int peer = 0; peer < size_; ++peer) {
    if (peer == rank_) {
      continue;
    }
    const auto& ticket = receives_[static_cast<std::size_t>(peer)];
    if (!ticket) {
      throw PeerLost(peer, "the connection is gone");
    }
    links_.wait(ticket);
    const std::lock_guard lock(mutex_);
    newest_[static_cast<std::size_t>(peer)] = incoming(peer);
  }
  prepared_ = false;
}

void Letters::finish() {
  for (const auto& ticket : sends_) {
    links_.wait(ticket);
  }
  sends_.clear();
}

Header Letters::newest(int peer) const {
  const std::lock_guard lock(mutex_);
  return newest_[static_cast<std::size_t>(peer)];
}

bool Letters::arrived(int peer, std::uint64_t ordinal) const {
  if (newest(peer).ordinal >= ordinal) {
    return true;
  }
  auto& unread = *reinterpret_cast<Header*>(letter(false, peer));
  return peek(unread.check) == Header::written && peek(unread.ordinal) == ordinal;
}

}  // namespace muster::gloo
