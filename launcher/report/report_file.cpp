#include "report/report_file.hpp"

#include <muster/error.hpp>

#include "screen/patient_write.hpp"
#include "unique_fd.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <poll.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace muster::launcher {
namespace {

/// No FIFO and no terminal may hold us up.
constexpr int open_to_write = O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;

std::string fault_of(const std::string& path) {
  return "--report " + path + ": cannot be written: " + std::strerror(errno);
}

/// 1 or 2 if that is the same file, pipe or terminal (/dev/stdout); else -1.
int own_output(const struct stat& facts) {
  for (const int fd : {STDOUT_FILENO, STDERR_FILENO}) {
    struct stat own {};
    if (::fstat(fd, &own) == 0 && own.st_dev == facts.st_dev && own.st_ino == facts.st_ino)
      return fd;
  }
  return -1;
}

/// A reader that has stopped reading must not keep us for ever.
bool can_be_written_soon(int file) {
  constexpr int patience_ms = 2000;
  pollfd ready{file, POLLOUT, 0};
  errno = EAGAIN;
  return ::poll(&ready, 1, patience_ms) == 1;
}

void write_to(int file, const std::string& path, const std::string& text) {
  for (std::size_t at = 0; at < text.size();) {
    const auto written = ::write(file, text.data() + at, text.size() - at);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0 && errno == EAGAIN && can_be_written_soon(file)) continue;
    if (written < 0) throw Error(fault_of(path));
    at += static_cast<std::size_t>(written);
  }
}

/// The whole text or what was there before: a new file takes the place of the old one. `mode` is
/// the old one's; 0: there is none.
void replace_file(const std::string& path, mode_t mode, const std::string& text) {
  std::error_code ignored;
  const auto target = std::filesystem::weakly_canonical(path, ignored);
  const std::string place = target.empty() ? path : target.string();
  const std::string beside = place + ".muster-" + std::to_string(::getpid());
  UniqueFd file(::open(beside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (!file) {
    // The folder may be another user's, and the file ours.
    file.reset(::open(path.c_str(), open_to_write | O_CREAT | O_TRUNC, 0666));
    write_to(file.get(), path, text);
    return;
  }
  try {
    if (mode != 0) ::fchmod(file.get(), mode);
    write_to(file.get(), path, text);
    if (::rename(beside.c_str(), place.c_str()) != 0) throw Error(fault_of(path));
  } catch (const Error&) {
    ::unlink(beside.c_str());
    throw;
  }
}

}  // namespace

void check_report_path(const std::string& path) {
  struct stat facts {};
  if (::stat(path.c_str(), &facts) != 0) {
    const UniqueFd made(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
    if (!made) throw ConfigError(fault_of(path));
    ::unlink(path.c_str());
    return;
  }
  if (own_output(facts) >= 0) return;
  if (S_ISDIR(facts.st_mode)) errno = EISDIR;
  if (!S_ISREG(facts.st_mode) && !S_ISCHR(facts.st_mode) && !S_ISDIR(facts.st_mode))
    throw ConfigError("--report " + path + ": is neither a file nor a character device");
  const UniqueFd file(::open(path.c_str(), open_to_write));
  if (!file) throw ConfigError(fault_of(path));
}

void write_report(const std::string& path, const std::string& text) {
  struct stat facts {};
  const bool exists = ::stat(path.c_str(), &facts) == 0;
  if (const int own = exists ? own_output(facts) : -1; own >= 0) {
    // Behind what the job printed, with nothing cut off.
    constexpr std::chrono::minutes patience{1};
    errno = write_patiently(own, text, patience);
    if (errno != 0) throw Error(fault_of(path));
  } else if (exists && !S_ISREG(facts.st_mode)) {
    write_to(UniqueFd(::open(path.c_str(), open_to_write)).get(), path, text);
  } else {
    replace_file(path, exists ? facts.st_mode & 07777U : 0, text);
  }
}

}  // namespace muster::launcher
