#include "descriptors.hpp"

#include "supervise.hpp"

#include <algorithm>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

namespace muster::launcher {

void open_standard_descriptors() {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd)
    // The lowest free number is what open() takes.
    if (::fcntl(fd, F_GETFD) < 0) static_cast<void>(::open("/dev/null", O_RDWR));
}

void keep_off_standard(UniqueFd& fd) {
  if (fd && fd.get() <= STDERR_FILENO)
    fd.reset(::fcntl(fd.get(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
}

void raise_file_limit(std::size_t more, Inherited& inherited) {
  if (::getrlimit(RLIMIT_NOFILE, &inherited.files) != 0) return;
  // What other parts of the program have open is few.
  const rlim_t wanted = static_cast<rlim_t>(more) + 64;
  if (inherited.files.rlim_cur >= wanted) return;
  rlimit raised = inherited.files;
  raised.rlim_cur = std::min(wanted, raised.rlim_max);
  inherited.files_raised =
      raised.rlim_cur > inherited.files.rlim_cur && ::setrlimit(RLIMIT_NOFILE, &raised) == 0;
}

}  // namespace muster::launcher
