#include "communicators/gloo/letters.hpp"

#include "communicators/gloo/tags.hpp"

#include <atomic>

namespace muster::gloo {
namespace {

constexpr std::size_t sent = 2;

/// The transport's thread writes headers that we look at before it says that they are whole.
std::uint64_t peek(std::uint64_t& word) {
  return std::atomic_ref(word).load(std::memory_order_acquire);
}

}  // namespace

Letters::Letters(Links& links, int rank, int size)
    : links_(links),
      rank_(rank),
      size_(size),
      memory_(3 * letter_bytes * static_cast<std::size_t>(size)),
      newest_(static_cast<std::size_t>(size)) {
  turn_ = 1;
  post_receives();
}

char* Letters::letter(std::size_t set, int peer) const {
  return memory_.data() +
         letter_bytes * (set * static_cast<std::size_t>(size_) + static_cast<std::size_t>(peer));
}

Header& Letters::header(std::size_t set, int peer) const {
  return *reinterpret_cast<Header*>(letter(set, peer));
}

void Letters::post_receives() {
  turn_ = 1 - turn_;
  auto& tickets = receives_[turn_];
  tickets.assign(static_cast<std::size_t>(size_), nullptr);
  for (int peer = 0; peer < size_; ++peer) {
    if (peer != rank_) {
      header(turn_, peer).check = 0;
      tickets[static_cast<std::size_t>(peer)] =
          links_.receive(peer, tag::letter, letter(turn_, peer), sizeof(Header) + capacity);
    }
  }
}

Header& Letters::outgoing(int peer) const { return header(sent, peer); }

char* Letters::outgoing_data(int peer) const { return letter(sent, peer) + sizeof(Header); }

void Letters::post() {
  for (int step = 1; step < size_; ++step) {  // Not all to rank 0 first.
    const int peer = (rank_ + step) % size_;
    const auto bytes = sizeof(Header) + outgoing(peer).inline_bytes;
    sends_.push_back(links_.send(peer, tag::letter, letter(sent, peer), bytes));
  }
  post_receives();
}

void Letters::await() {
  const auto set = 1 - turn_;
  for (int peer = 0; peer < size_; ++peer) {
    if (peer == rank_) {
      continue;
    }
    links_.wait(receives_[set][static_cast<std::size_t>(peer)]);
    const std::lock_guard lock(mutex_);
    newest_[static_cast<std::size_t>(peer)] = header(set, peer);
  }
}

const Header& Letters::incoming(int peer) const { return header(1 - turn_, peer); }

const char* Letters::incoming_data(int peer) const {
  return letter(1 - turn_, peer) + sizeof(Header);
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
  for (const std::size_t set : {0U, 1U}) {
    auto& unread = header(set, peer);
    if (peek(unread.check) == Header::written && peek(unread.ordinal) == ordinal) {
      return true;
    }
  }
  return false;
}

}  // namespace muster::gloo
