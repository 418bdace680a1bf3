#include "communicators/shm/shm_transport.hpp"

#include "communicators/shm/scene.hpp"

#include <algorithm>
#include <utility>

namespace muster::shm {
namespace {

using Kind = Operation::Kind;

[[noreturn]] void rethrow(const PeerGone& gone) {
  throw PeerLost(gone.peer, gone.closed_here ? "closed by this rank" : "it has left");
}

}  // namespace

ShmTransport::ShmTransport(Segment segment, int rank, int size, bool strict)
    : segment_(std::move(segment)),
      board_(segment_.data(), rank, size),
      rounds_(board_),
      mail_(board_),
      strict_(strict) {}

void ShmTransport::ready() {
  segment_.close_descriptor();
  board_.ready();
}

void ShmTransport::require_sound(int peer) const {
  const auto word = board_.state(peer).word.load(std::memory_order_acquire);
  if (static_cast<LastWord>(word) == LastWord::failed) throw PeerLost(peer, "it has failed");
}

void ShmTransport::collective(const Operation& operation, std::uint64_t ordinal) {
  // What they have put in before they failed is still there, and no result may be made of it.
  for (int peer = 0; peer < board_.size(); ++peer) require_sound(peer);
  const Scene scene{board_, rounds_, ordinal, strict_};
  try {
    if (operation.kind == Kind::all_reduce || operation.kind == Kind::reduce_scatter) {
      reduce(scene, operation);
    } else {
      move(scene, operation);
    }
  } catch (const PeerGone& gone) {
    rethrow(gone);
  }
}

std::function<void()> ShmTransport::parcel(const Operation& operation) {
  require_sound(operation.peer);
  return
      [deliver = operation.kind == Kind::send ? mail_.send(operation) : mail_.receive(operation)] {
        try {
          deliver();
        } catch (const PeerGone& gone) {
          rethrow(gone);
        }
      };
}

void ShmTransport::say(LastWord word, std::string_view text) noexcept {
  const std::lock_guard lock(saying_);
  RankState& own = board_.own();
  if (own.word.load(std::memory_order_relaxed) != 0) return;
  const std::size_t length = std::min(text.size(), own.text.size() - 1);
  std::copy_n(text.begin(), length, own.text.begin());
  own.word.store(static_cast<std::uint32_t>(word), std::memory_order_release);
  ring(own.bell);
}

News ShmTransport::news(int peer) {
  RankState& theirs = board_.state(peer);
  // In this order: a peer says why before it is gone.
  News news;
  news.lost = board_.gone(peer);
  news.word = static_cast<LastWord>(theirs.word.load(std::memory_order_acquire));
  if (news.word != LastWord::none) news.text = theirs.text.data();
  return news;
}

Header ShmTransport::newest(int peer) const {
  const std::uint64_t ordinal = board_.state(peer).arrived.load(std::memory_order_acquire);
  return ordinal == 0 ? Header{} : header_of(board_, peer, ordinal);
}

bool ShmTransport::arrived(int peer, std::uint64_t ordinal) const {
  return board_.state(peer).arrived.load(std::memory_order_acquire) >= ordinal;
}

}  // namespace muster::shm
