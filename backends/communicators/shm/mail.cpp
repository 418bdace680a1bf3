#include "communicators/shm/mail.hpp"

#include "communicators/header.hpp"
#include "communicators/meeting.hpp"

#include <algorithm>
#include <cstring>

namespace muster::shm {
namespace {

constexpr std::uint64_t capacity = Parcel::capacity;

Header header_in(const std::byte* bytes) {
  Header header;
  std::memcpy(&header, bytes, sizeof header);
  return header;
}

/// Copies `bytes` bytes of a ring from or to its position `at`; `copy(ring, offset, bytes)`.
template <class Copy>
void around(Parcel& parcel, std::uint64_t at, std::uint64_t bytes, const Copy& copy) {
  const std::uint64_t begin = at % capacity, first = std::min(bytes, capacity - begin);
  copy(parcel.data.data() + begin, std::uint64_t{0}, first);
  if (first < bytes) copy(parcel.data.data(), first, bytes - first);
}

}  // namespace

Mail::Mail(const Board& board) : board_(board) {}

Mail::Place Mail::next_place(std::map<std::pair<int, int>, std::uint64_t>& counts,
                             const Operation& operation) {
  const std::lock_guard lock(mutex_);
  const std::pair key(operation.peer, operation.tag);
  return {key, counts[key]++};
}

std::function<void()> Mail::send(const Operation& operation) {
  return [this, &operation, place = next_place(sent_, operation)] {
    deliver(operation, place.second);
  };
}

std::function<void()> Mail::receive(const Operation& operation) {
  const Place place = next_place(received_, operation);
  {
    const std::lock_guard lock(mutex_);
    ++awaited_[place];
  }
  return [this, &operation, place] { collect(operation, place); };
}

Parcel* Mail::free_parcel(int peer) const {
  for (int i = 0; i < parcels_a_pair; ++i) {
    Parcel& parcel = board_.parcel(board_.rank(), peer, i);
    std::uint32_t free = Parcel::free;
    if (parcel.state.compare_exchange_strong(free, Parcel::filling)) return &parcel;
  }
  return nullptr;
}

void Mail::deliver(const Operation& operation, std::uint64_t number) {
  Parcel* taken = nullptr;
  board_.await(operation.peer, [&] { return (taken = free_parcel(operation.peer)) != nullptr; });
  Parcel& parcel = *taken;
  const Header header = describe(operation);
  std::memcpy(parcel.header.data(), &header, sizeof header);
  parcel.tag = operation.tag;
  parcel.number = number;
  parcel.bytes = operation.input.nbytes();
  const auto* data = static_cast<const std::byte*>(operation.input.const_data_ptr());
  const std::uint64_t bytes = parcel.bytes;
  std::uint64_t written = std::min(bytes, capacity);
  if (written > 0) std::memcpy(parcel.data.data(), data, written);
  parcel.taken.store(0, std::memory_order_relaxed);
  parcel.written.store(written, std::memory_order_relaxed);
  parcel.state.store(Parcel::offered, std::memory_order_release);
  ring(board_.own().bell);
  // Once all is written the receiver frees it, and nothing in it is ours any more.
  while (written < bytes) {
    std::uint64_t room = 0;
    board_.await(operation.peer, [&] {
      room = capacity - (written - parcel.taken.load(std::memory_order_acquire));
      return room > 0;
    });
    const std::uint64_t now = std::min(room, bytes - written);
    around(parcel, written, now, [&](std::byte* part, std::uint64_t offset, std::uint64_t length) {
      std::memcpy(part, data + written + offset, length);
    });
    written += now;
    board_.publish(parcel.written, written);
  }
}

Parcel* Mail::offered(const Place& place) const {
  const auto& [key, number] = place;
  for (int i = 0; i < parcels_a_pair; ++i) {
    Parcel& parcel = board_.parcel(key.first, board_.rank(), i);
    if (parcel.state.load(std::memory_order_acquire) == Parcel::offered &&
        parcel.tag == key.second && parcel.number == number) {
      return &parcel;
    }
  }
  return nullptr;
}

Parcel* Mail::obstacle(int peer) const {
  Parcel* found = nullptr;
  for (int i = 0; i < parcels_a_pair; ++i) {
    Parcel& parcel = board_.parcel(peer, board_.rank(), i);
    if (parcel.state.load(std::memory_order_acquire) == Parcel::free) return nullptr;
    if (parcel.state.load(std::memory_order_acquire) != Parcel::offered) continue;
    if (!awaited_.contains({{peer, parcel.tag}, parcel.number})) found = &parcel;
  }
  return found;
}

void Mail::read(Parcel& parcel, int peer, std::byte* to) const {
  const std::uint64_t bytes = parcel.bytes;
  std::uint64_t taken = 0;
  while (taken < bytes) {
    std::uint64_t there = 0;
    board_.await(peer, [&] {
      there = parcel.written.load(std::memory_order_acquire) - taken;
      return there > 0;
    });
    around(parcel, taken, there, [&](std::byte* part, std::uint64_t offset, std::uint64_t length) {
      std::memcpy(to + taken + offset, part, length);
    });
    taken += there;
    board_.publish(parcel.taken, taken);
  }
  parcel.state.store(Parcel::free, std::memory_order_release);
  ring(board_.own().bell);
}

void Mail::store(Parcel& parcel, int peer) {
  const Place place{{peer, parcel.tag}, parcel.number};
  Stored stored{{parcel.header.begin(), parcel.header.end()}, std::vector<std::byte>(parcel.bytes)};
  read(parcel, peer, stored.data.data());
  const std::lock_guard lock(mutex_);
  stored_.emplace(place, std::move(stored));
}

void Mail::collect(const Operation& operation, const Place& place) {
  const int peer = operation.peer;
  auto* output = static_cast<std::byte*>(operation.output.data_ptr());
  for (;;) {
    Parcel* mine = nullptr;
    Parcel* other = nullptr;
    std::optional<Stored> stored;
    board_.await(peer, [&] {
      const std::lock_guard lock(mutex_);
      if (const auto found = stored_.find(place); found != stored_.end()) {
        stored = std::move(found->second);
        stored_.erase(found);
        return true;
      }
      mine = offered(place);
      if (mine == nullptr) other = obstacle(peer);
      Parcel* const taken = mine != nullptr ? mine : other;
      if (taken != nullptr) taken->state.store(Parcel::accepted, std::memory_order_relaxed);
      return taken != nullptr;
    });
    if (other != nullptr) {
      store(*other, peer);
      continue;
    }
    require_fit(operation, header_in(stored ? stored->header.data() : mine->header.data()));
    if (stored) {
      std::ranges::copy(stored->data, output);
    } else {
      read(*mine, peer, output);
    }
    const std::lock_guard lock(mutex_);
    awaited_.erase(place);
    return;
  }
}

}  // namespace muster::shm
