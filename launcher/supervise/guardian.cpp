#include "guardian.hpp"

#include <muster/error.hpp>

#include "supervise/guardian_loop.hpp"
#include "supervise/kernel.hpp"
#include "supervise/process_title.hpp"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <string>
#include <sys/socket.h>
#include <unistd.h>

namespace muster::launcher {
namespace {

struct GuardianEnds {
  UniqueFd socket, records, writer;  ///< The last two: the pipe of StartRecords.
};

/// What the environment of ranks, and of all that they start, has in it: the folder's name is this
/// job's alone (TORCHELASTIC_ERROR_FILE). Empty without a folder.
std::string mark_of(const std::string& run_directory) {
  return run_directory.empty() ? "" : "=" + run_directory + "/";
}

/// Its socket, the pipe of StartRecords, and nothing else; 0 to 2 lead nowhere.
void keep_only(UniqueFd& socket, UniqueFd& records) {
  constexpr int first = 3;
  const int high_socket = ::fcntl(socket.release(), F_DUPFD_CLOEXEC, first + 2);
  const int high_records = ::fcntl(records.release(), F_DUPFD_CLOEXEC, first + 2);
  ::dup3(high_socket, first, O_CLOEXEC);
  ::dup3(high_records, first + 1, O_CLOEXEC);
  close_from(first + 2);
  const UniqueFd nowhere(::open("/dev/null", O_RDWR | O_CLOEXEC));
  for (int standard = 0; standard < first; ++standard) ::dup2(nowhere.get(), standard);
  socket.reset(first);
  records.reset(first + 1);
}

// An exception must not reach what called start_guardian: that belongs to the launcher.
[[noreturn]] void be_guardian(std::span<const RankImage> images, const Inherited& inherited,
                              GuardianEnds ends, pid_t launcher,
                              const std::string& run_directory) noexcept {
  ::setsid();
  JobTree tree(become_subreaper() ? "" : mark_of(run_directory));
  sigset_t all;
  sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, nullptr);
  set_process_title("rank-guardian", "of " + std::to_string(launcher));
  RankProcesses ranks(images.size());
  StartStacks stacks = inherited.stop_on_exec ? StartStacks() : StartStacks(images.size());
  int refused = 0;
  for (std::size_t i = 0; i < images.size() && refused == 0; ++i) {
    const pid_t pid = fork_rank(images[i], inherited, ends.writer.get(), stacks.of(i));
    if (pid < 0) {
      refused = errno;
    } else {
      ranks.add(pid, images[i].rank());
    }
  }
  if (inherited.stop_on_exec)
    for (const RankProcesses::Process& rank : ranks.all()) stop_at_start(rank.pid);
  ends.writer.reset();
  keep_only(ends.socket, ends.records);
  GuardianLoop({std::move(ends.socket), std::move(ends.records), std::move(stacks)},
               std::move(ranks), std::move(tree), run_directory)
      .run(refused);
}

}  // namespace

GuardianHandle start_guardian(std::span<const RankImage> images, const Inherited& inherited,
                              const std::string& run_directory) {
  int pair[2], pipe[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
    throw Error(std::string("cannot make the guardian's socket: ") + std::strerror(errno));
  UniqueFd ours(pair[0]), theirs(pair[1]);
  if (::pipe2(pipe, O_CLOEXEC) != 0)
    throw Error(std::string("cannot make the guardian's pipe: ") + std::strerror(errno));
  UniqueFd records(pipe[0]), writer(pipe[1]);
  const pid_t launcher = ::getpid();
  // Whoever is left of the two gets what the other one's ranks have started.
  JobTree tree(become_subreaper() ? "" : mark_of(run_directory));
  const pid_t pid = ::fork();
  if (pid < 0) throw Error(std::string("cannot start the guardian: ") + std::strerror(errno));
  if (pid == 0) {
    ours.reset();
    be_guardian(images, inherited, {std::move(theirs), std::move(records), std::move(writer)},
                launcher, run_directory);
  }
  return {pid, std::move(ours), std::move(tree)};
}

}  // namespace muster::launcher
