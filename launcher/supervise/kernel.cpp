#include "kernel.hpp"

#include <cerrno>
#include <csignal>
#include <ctime>
#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

namespace muster::launcher {
namespace {

/// What getdents64 writes; the name follows the fields.
struct DirectoryEntry {
  std::uint64_t inode;
  std::int64_t offset;
  unsigned short size;
  unsigned char type;
  char name[1];
};

/// -1 for a name that is not a number.
int number_of(const char* name) noexcept {
  int number = 0;
  for (; *name != 0; ++name) {
    if (*name < '0' || *name > '9') return -1;
    number = number * 10 + (*name - '0');
  }
  return number;
}

/// Closes what /proc lists; false without /proc.
bool close_listed(int first) noexcept {
  const int folder = ::open("/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return false;
  alignas(DirectoryEntry) char buffer[4096];
  long bytes = 0;
  while ((bytes = ::syscall(SYS_getdents64, folder, buffer, sizeof buffer)) > 0) {
    for (long at = 0; at < bytes;) {
      const auto* entry = reinterpret_cast<const DirectoryEntry*>(buffer + at);
      const int fd = number_of(entry->name);
      if (fd >= first && fd != folder) ::close(fd);
      at += entry->size;
    }
  }
  ::close(folder);
  return true;
}

}  // namespace

std::int64_t monotonic_ns() noexcept {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

UniqueFd open_pidfd(pid_t pid) noexcept {
  return UniqueFd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
}

bool signal_process(const UniqueFd& pidfd, pid_t pid, int signal) noexcept {
  if (pid <= 1) return false;
  if (pidfd && ::syscall(SYS_pidfd_send_signal, pidfd.get(), signal, nullptr, 0) == 0) return true;
  if (pidfd && errno != ENOSYS && errno != EPERM) return false;
  return ::kill(pid, signal) == 0;
}

bool become_subreaper() noexcept { return ::prctl(PR_SET_CHILD_SUBREAPER, 1) == 0; }

void close_from(int first) noexcept {
  if (::syscall(SYS_close_range, static_cast<unsigned>(first), ~0U, 0) == 0) return;
  if (close_listed(first)) return;
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  const int end = limit.rlim_cur > 65536 ? 65536 : static_cast<int>(limit.rlim_cur);
  for (int fd = first; fd < end; ++fd) ::close(fd);
}

UniqueFd make_shared_memory(const char* name, std::size_t size) noexcept {
  UniqueFd memory(static_cast<int>(::syscall(SYS_memfd_create, name, MFD_CLOEXEC)));
  if (!memory) memory.reset(::open("/dev/shm", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (memory && ::ftruncate(memory.get(), static_cast<off_t>(size)) != 0) memory.reset();
  return memory;
}

}  // namespace muster::launcher
