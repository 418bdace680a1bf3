#include "control_server.hpp"

#include <muster/error.hpp>

#include "supervise/kernel.hpp"

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

namespace muster::launcher {

static_assert(offsetof(ControlSlot, version) == 0);

ControlServer::ControlServer(std::size_t ranks)
    : memory_(make_shared_memory("muster-control", ranks * sizeof(ControlSlot))) {
  for (std::size_t i = 0; i < ranks; ++i) {
    int pair[2];
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0) {
      throw Error("cannot open a control channel for rank " + std::to_string(i) + ": " +
                  std::strerror(errno));
    }
    ranks_.push_back({.socket = UniqueFd(pair[0]), .watch = nullptr, .record = {}});
    theirs_.emplace_back(pair[1]);
  }
}

void ControlServer::start(EventLoop& loop, Heard heard) {
  heard_ = std::move(heard);
  for (std::size_t i = 0; i < ranks_.size(); ++i) {
    ranks_[i].watch = loop.watch(ranks_[i].socket.get(), EventLoop::Direction::readable, [this, i] {
      if (!receive(i)) ranks_[i].watch.reset();
    });
  }
}

void ControlServer::drain() {
  heard_ = nullptr;
  for (std::size_t i = 0; i < ranks_.size(); ++i) {
    while (receive(i)) {
    }
  }
}

void ControlServer::answer(std::size_t rank) const {
  // One that is gone, or takes no answer, waits for none.
  ::send(ranks_.at(rank).socket.get(), control_answer.data(), control_answer.size(),
         MSG_DONTWAIT | MSG_NOSIGNAL);
}

std::optional<ControlNote> ControlServer::note_of(std::size_t rank) const {
  // Read, not mapped: a rank that made the memory shorter would end us with SIGBUS.
  ControlSlot slot{};
  std::uint64_t before = 0, after = 0;
  const auto at = static_cast<off_t>(rank * sizeof slot);
  const auto copy = [&](auto& to) {
    std::atomic_thread_fence(std::memory_order_seq_cst);
    return ::pread(memory_.get(), &to, sizeof to, at) == static_cast<ssize_t>(sizeof to);
  };
  // The rank may write while it is copied: the version, which comes first, must stay the same.
  constexpr int tries = 100;
  for (int i = 0; i < tries; ++i) {
    if (!copy(before) || !copy(slot) || !copy(after)) return std::nullopt;
    if (before == after && slot.version == before)
      if (auto note = read_slot(slot)) return note;
  }
  return std::nullopt;
}

/// False when nothing more comes, now (drain) or ever (a watch says that something is there).
bool ControlServer::receive(std::size_t rank) {
  char buffer[8192];
  const ssize_t size = ::recv(ranks_[rank].socket.get(), buffer, sizeof buffer, MSG_DONTWAIT);
  if (size <= 0) return size < 0 && errno == EINTR;
  if (auto message = decode(std::string_view(buffer, static_cast<std::size_t>(size))))
    keep(rank, std::move(*message));
  return true;
}

void ControlServer::keep(std::size_t rank, ControlMessage message) {
  RankRecord& record = ranks_[rank].record;
  switch (message.kind) {
    case ControlMessage::Kind::ready:
      record.ready = true;
      break;
    case ControlMessage::Kind::step:
      record.step = message.number;
      record.step_ns = monotonic_ns();
      break;
    case ControlMessage::Kind::checkpoint:
      record.checkpoint = message.number;
      break;
    case ControlMessage::Kind::death:
      if (!record.death) record.death = std::move(message);
      break;
    case ControlMessage::Kind::stack:
      record.tells_stack = true;
      [[fallthrough]];
    case ControlMessage::Kind::stuck:
      if (heard_) heard_(rank, message);
      break;
  }
}

}  // namespace muster::launcher
