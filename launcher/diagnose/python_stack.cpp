#include "diagnose/python_stack.hpp"

#include "diagnose/process_files.hpp"
#include "supervise/executable.hpp"
#include "text.hpp"
#include "unique_fd.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

namespace muster::launcher {
namespace {

constexpr std::size_t most_lines = 40;
constexpr std::size_t most_bytes = std::size_t{64} * 1024;
/// It takes longer than the rest, and is worth that.
constexpr std::chrono::milliseconds own_time{1500};

bool runs_python(const std::string& executable) {
  const auto name = executable.substr(executable.rfind('/') + 1);
  return name.starts_with("python") || name.starts_with("pypy");
}

/// Empty: it is not installed.
std::string find_py_spy(const std::string& interpreter) {
  auto beside = interpreter.substr(0, interpreter.rfind('/') + 1) + "py-spy";
  if (::access(beside.c_str(), X_OK) == 0) return beside;
  const char* const path = std::getenv("PATH");
  const auto found = find_executable("py-spy", path ? path : "");
  return found.error == 0 ? found.path : "";
}

/// All that `argv` writes to its stdout until it ends, or is killed at the deadline.
std::string output_of(const std::vector<std::string>& argv, Deadline deadline) {
  int ends[2];
  if (std::chrono::steady_clock::now() >= deadline) return "";
  if (::pipe2(ends, O_CLOEXEC) != 0) return "";
  const UniqueFd ours(ends[0]);
  UniqueFd theirs(ends[1]);
  std::vector<char*> words;
  for (const auto& word : argv) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDWR, 0);
  posix_spawn_file_actions_adddup2(&files, theirs.get(), STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_RDWR, 0);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  pid_t pid = -1;
  const int error = ::posix_spawn(&pid, words[0], &files, &attributes, words.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  theirs.reset();
  if (error != 0) return "";
  std::string text;
  char buffer[4096];
  while (text.size() < most_bytes) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    pollfd readable{ours.get(), POLLIN, 0};
    if (left.count() <= 0 || ::poll(&readable, 1, static_cast<int>(left.count())) <= 0) break;
    const ssize_t size = ::read(ours.get(), buffer, sizeof buffer);
    if (size <= 0) break;
    text.append(buffer, static_cast<std::size_t>(size));
  }
  ::kill(pid, SIGKILL);  // Ours, and not reaped yet.
  while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
  return text;
}

}  // namespace

void read_python(RankState& rank, Deadline deadline) {
  const auto interpreter = executable_of(rank.pid);
  if (!runs_python(interpreter)) return;
  const auto py_spy = find_py_spy(interpreter);
  if (py_spy.empty()) {
    rank.python = {"(py-spy, if it were in PATH, would tell Python's own functions)"};
    return;
  }
  const auto text =
      output_of({py_spy, "dump", "--pid", std::to_string(rank.pid)}, deadline + own_time);
  for (const auto line : split(text, '\n')) {
    if (rank.python.size() == most_lines) break;
    if (!line.starts_with("Process ") && !line.starts_with("Python v"))
      rank.python.emplace_back(line);
  }
  if (rank.python.empty()) rank.python = {"(" + py_spy + " told nothing)"};
}

}  // namespace muster::launcher
