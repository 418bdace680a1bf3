#include "descriptors.hpp"

#include <muster/error.hpp>

#include "supervise.hpp"

#include <algorithm>
#include <fcntl.h>
#include <string>
#include <sys/resource.h>
#include <unistd.h>

namespace muster::launcher {
namespace {

/// Both ends of two outputs and of control, and two log files; and what else is open. Input, where
/// it is copied, takes two more.
constexpr rlim_t of_a_rank = 6, of_logs = 2, others = 16;

void check_room(std::size_t ranks, bool logs, rlim_t have) {
  const rlim_t needed = ranks * (of_a_rank + (logs ? of_logs : 0)) + others;
  if (have >= needed) return;
  throw Error(std::to_string(ranks) + " ranks need " + std::to_string(needed) +
              " open files, and the limit is " + std::to_string(have) +
              "; ulimit -n raises it, where the administrator allows that");
}

}  // namespace

void open_standard_descriptors() {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) {
    // The lowest free number is what open() takes.
    if (::fcntl(fd, F_GETFD) < 0) static_cast<void>(::open("/dev/null", O_RDWR));
  }
}

void keep_off_standard(UniqueFd& fd) {
  if (fd && fd.get() <= STDERR_FILENO)
    fd.reset(::fcntl(fd.get(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
}

void check_file_limit(std::size_t ranks, bool logs) {
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) == 0) check_room(ranks, logs, files.rlim_max);
}

void raise_file_limit(std::size_t ranks, bool logs, Inherited& inherited) {
  constexpr rlim_t with_input = 8 + of_logs;
  if (::getrlimit(RLIMIT_NOFILE, &inherited.files) != 0) return;
  const rlim_t wanted = ranks * with_input + 4 * others;
  if (inherited.files.rlim_cur >= wanted) return;
  rlimit raised = inherited.files;
  raised.rlim_cur = std::min(wanted, raised.rlim_max);
  inherited.files_raised =
      raised.rlim_cur > inherited.files.rlim_cur && ::setrlimit(RLIMIT_NOFILE, &raised) == 0;
  check_room(ranks, logs, inherited.files_raised ? raised.rlim_cur : inherited.files.rlim_cur);
}

}  // namespace muster::launcher
