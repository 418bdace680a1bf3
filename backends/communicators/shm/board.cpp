#include "communicators/shm/board.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace muster::shm {
namespace {

/// Looking longer than that is worth it only if the other ranks run meanwhile.
constexpr int spins_together = 4000, spins_in_turn = 100;

int open_process(pid_t process) noexcept {
  return static_cast<int>(syscall(SYS_pidfd_open, process, 0));
}

bool has_ended(int process_descriptor) noexcept {
  pollfd asked{process_descriptor, POLLIN, 0};
  return ::poll(&asked, 1, 0) == 1;
}

}  // namespace

Board::Board(std::byte* memory, int rank, int size)
    : memory_(memory),
      layout_(size),
      rank_(rank),
      size_(size),
      processes_(static_cast<std::size_t>(size), -1) {
  own().process = getpid();
  CPU_ZERO(&own().processors);
  sched_getaffinity(0, sizeof(cpu_set_t), &own().processors);
}

Board::~Board() {
  for (const int process : processes_) {
    if (process >= 0) ::close(process);
  }
}

void Board::ready() {
  cpu_set_t together;
  CPU_ZERO(&together);
  for (int peer = 0; peer < size_; ++peer) {
    CPU_OR(&together, &together, &state(peer).processors);
    if (state(peer).process != own().process) {
      processes_[static_cast<std::size_t>(peer)] = open_process(state(peer).process);
    }
  }
  spins_ = CPU_COUNT(&together) >= size_ ? spins_together : spins_in_turn;
}

bool Board::gone(int peer) const noexcept {
  if (state(peer).closed.load(std::memory_order_acquire) != 0) return true;
  const int process = processes_[static_cast<std::size_t>(peer)];
  if (process >= 0) return has_ended(process);
  // Without pidfds a process that has ended, and that its parent has not asked about, seems alive.
  return kill(state(peer).process, 0) != 0 && errno == ESRCH;
}

void Board::throw_gone(int peer) const { throw PeerGone{peer, closed()}; }

void Board::close() const noexcept {
  own().closed.store(1, std::memory_order_release);
  ring(own().bell);
  // Threads of this rank sleep at the bells of others.
  for (int peer = 0; peer < size_; ++peer) disturb(state(peer).bell);
}

}  // namespace muster::shm
