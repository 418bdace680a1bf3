#include "channels.hpp"

#include <muster/error.hpp>

#include "supervise/prefix.hpp"
#include "supervise/terminal.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace muster::launcher {
namespace {

bool same_place(int one, int other) {
  struct stat first {
  }, second{};
  return ::fstat(one, &first) == 0 && ::fstat(other, &second) == 0 &&
         first.st_dev == second.st_dev && first.st_ino == second.st_ino &&
         first.st_rdev == second.st_rdev;
}

}  // namespace

Channels::Channels(std::size_t ranks, const JobOptions& options)
    : merged_(same_place(STDOUT_FILENO, STDERR_FILENO)),
      direct_(ranks == 1 && !options.prefixed() && !options.logs() && !merged_ &&
              options.shown.contains(0)) {
  const bool one_for_both = ranks == 1 && !options.prefixed() && !options.logs() && merged_;
  for (std::size_t i = 0; i < ranks; ++i) {
    const int rank = static_cast<int>(i);
    const std::string& prefix = options.prefixed() ? options.prefixes[i] : std::string();
    const auto open_to = [&](int target, bool has_error) {
      return open({.rank = rank, .target = target, .has_error = has_error, .ours = {}}, prefix);
    };
    if (rank == options.terminal) {
      ends_.push_back({STDOUT_FILENO, STDERR_FILENO});
    } else if (direct_) {
      ends_.push_back({STDOUT_FILENO, open_to(STDERR_FILENO, true)});
    } else if (one_for_both) {
      const int both = open_to(STDOUT_FILENO, true);
      ends_.push_back({both, both});
    } else {
      const int out = open_to(STDOUT_FILENO, false);
      ends_.push_back({out, open_to(STDERR_FILENO, true)});
    }
  }
}

int Channels::open(Channel channel, const std::string& prefix) {
  channel.terminal = ::isatty(channel.target) == 1;
  if (channel.terminal) {
    Pty pty = open_pty(channel.target, columns_of(prefix));
    channel.ours = std::move(pty.ours);
    theirs_.push_back(std::move(pty.theirs));
  } else {
    int pipe[2];
    if (::pipe2(pipe, O_CLOEXEC) != 0) {
      throw Error(std::string("cannot open a pipe for rank ") + std::to_string(channel.rank) +
                  ": " + std::strerror(errno) + "; more open files are allowed by ulimit -n");
    }
    channel.ours.reset(pipe[0]);
    theirs_.emplace_back(pipe[1]);
  }
  channels_.push_back(std::move(channel));
  return theirs_.back().get();
}

std::array<int, 2> Channels::descriptors_of(std::size_t rank) const { return ends_.at(rank); }

}  // namespace muster::launcher
