#include "control_server.hpp"

#include <muster/error.hpp>

#include "supervise/kernel.hpp"

#include <cerrno>
#include <cstring>
#include <string_view>
#include <sys/socket.h>
#include <unistd.h>

namespace muster::launcher {

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

void ControlServer::start(EventLoop& loop) {
  for (Rank& rank : ranks_) {
    rank.watch = loop.watch(rank.socket.get(), EventLoop::Direction::readable, [&rank] {
      if (!receive(rank)) rank.watch.reset();
    });
  }
}

void ControlServer::drain() {
  for (Rank& rank : ranks_) {
    while (receive(rank)) {
    }
  }
}

std::optional<ControlNote> ControlServer::note_of(std::size_t rank) const {
  // Read, not mapped: a rank that made the memory shorter would end us with SIGBUS.
  ControlSlot slot{};
  const auto at = static_cast<off_t>(rank * sizeof slot);
  if (::pread(memory_.get(), &slot, sizeof slot, at) != sizeof slot) return std::nullopt;
  return read_slot(slot);
}

/// False when nothing more comes, now (drain) or ever (a watch says that something is there).
bool ControlServer::receive(Rank& rank) {
  char buffer[8192];
  const ssize_t size = ::recv(rank.socket.get(), buffer, sizeof buffer, MSG_DONTWAIT);
  if (size <= 0) return size < 0 && errno == EINTR;
  if (auto message = decode(std::string_view(buffer, static_cast<std::size_t>(size))))
    keep(std::move(*message), rank.record);
  return true;
}

void ControlServer::keep(ControlMessage message, RankRecord& record) {
  switch (message.kind) {
    case ControlMessage::Kind::ready:
      record.ready = true;
      break;
    case ControlMessage::Kind::step:
      record.step = message.number;
      break;
    case ControlMessage::Kind::checkpoint:
      record.checkpoint = message.number;
      break;
    case ControlMessage::Kind::death:
      if (!record.death) record.death = std::move(message);
      break;
  }
}

}  // namespace muster::launcher
