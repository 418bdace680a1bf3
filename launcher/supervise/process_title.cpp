#include "process_title.hpp"

#include "unique_fd.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

namespace muster::launcher {
namespace {

/// How many bytes the command line has; at most what is read of it.
std::size_t command_line_size() {
  const UniqueFd file(::open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC));
  char buffer[4096];
  std::size_t size = 0;
  ssize_t bytes = 0;
  while (file && (bytes = ::read(file.get(), buffer, sizeof buffer)) > 0)
    size += static_cast<std::size_t>(bytes);
  return size;
}

}  // namespace

void set_process_title(const std::string& name, const std::string& more) {
  ::prctl(PR_SET_NAME, name.c_str());
  const std::string line = name + " " + more;
  const std::size_t room = command_line_size();
  if (room < 2) return;
  // glibc keeps the address of argv[0], where the command line starts, under this name.
  char* start = program_invocation_name;
  std::memset(start, 0, room);
  std::copy_n(line.begin(), std::min(line.size(), room - 1), start);
}

}  // namespace muster::launcher
