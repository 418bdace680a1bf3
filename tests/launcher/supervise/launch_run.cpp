#include "launch_run.hpp"

#include <catch2/catch_test_macros.hpp>
#include <support/paths.hpp>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <dirent.h>
#include <fcntl.h>
#include <fstream>
#include <poll.h>
#include <signal.h>
#include <sstream>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <termios.h>
#include <thread>
#include <unistd.h>

namespace muster::test {
namespace {

using Clock = std::chrono::steady_clock;

struct Pair {
  int ours = -1, theirs = -1;
};

Pair make_pipe(bool we_read) {
  int ends[2];
  REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
  return we_read ? Pair{ends[0], ends[1]} : Pair{ends[1], ends[0]};
}

Pair make_terminal() {
  Pair pair;
  pair.ours = ::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  REQUIRE(::grantpt(pair.ours) == 0);
  REQUIRE(::unlockpt(pair.ours) == 0);
  pair.theirs = ::open(::ptsname(pair.ours), O_RDWR | O_NOCTTY | O_CLOEXEC);
  winsize size{30, 100, 0, 0};
  ::ioctl(pair.ours, TIOCSWINSZ, &size);
  return pair;
}

/// Appends what is there; false at the end.
bool read_into(int fd, std::string& text) {
  char buffer[65536];
  const ssize_t bytes = ::read(fd, buffer, sizeof buffer);
  if (bytes > 0) text.append(buffer, static_cast<std::size_t>(bytes));
  return bytes > 0;
}

void close_if_open(int& fd) {
  if (fd >= 0) ::close(fd);
  fd = -1;
}

std::string new_mark() {
  static std::atomic<int> count{0};
  return "launch-run-" + std::to_string(::getpid()) + "-" + std::to_string(++count);
}

void set_signals(const LaunchRun::Options& options) {
  for (int signal = 1; signal < SIGRTMIN; ++signal) ::signal(signal, SIG_DFL);
  for (const int signal : options.ignored) ::signal(signal, SIG_IGN);
  sigset_t blocked;
  sigemptyset(&blocked);
  for (const int signal : options.blocked) sigaddset(&blocked, signal);
  ::sigprocmask(SIG_SETMASK, &blocked, nullptr);
}

}  // namespace

std::string muster_program() {
  const char* given = std::getenv("TESTED_MUSTER");
  return given ? given : std::string(bin_dir) + "/muster";
}

std::string probe_program() { return std::string(bin_dir) + "/../tests/bin/launcher_probe"; }

std::string file_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

LaunchRun::LaunchRun(std::vector<std::string> arguments)
    : LaunchRun(std::move(arguments), Options{}) {}

LaunchRun::LaunchRun(std::vector<std::string> arguments, Options options) : mark_(new_mark()) {
  std::vector<std::string> words = options.wrapper;
  words.insert(words.end(), {muster_program(), "launch"});
  words.insert(words.end(), arguments.begin(), arguments.end());
  Pair in, out, err;
  if (options.terminal) {
    out = make_terminal();
    in.theirs = err.theirs = out.theirs;
  } else {
    in = make_pipe(false);
    out = make_pipe(true);
    err = make_pipe(true);
  }
  // A signal may be sent to it at once: it waits until what the test program does with signals is
  // undone.
  sigset_t all, before;
  sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, &before);
  pid_ = ::fork();
  if (pid_ != 0) ::sigprocmask(SIG_SETMASK, &before, nullptr);
  REQUIRE(pid_ >= 0);
  if (pid_ == 0) {
    set_signals(options);
    ::setsid();
    if (options.terminal) ::ioctl(in.theirs, TIOCSCTTY, 0);
    ::dup2(in.theirs, 0);
    ::dup2(out.theirs, 1);
    ::dup2(options.error_to_output ? out.theirs : err.theirs, 2);
    if (!options.terminal && options.input.empty()) ::dup2(::open("/dev/null", O_RDONLY), 0);
    become(words, options);
  }
  ::close(out.theirs);
  if (!options.terminal) {
    ::close(in.theirs);
    ::close(err.theirs);
    ::fcntl(in.ours, F_SETFL, O_NONBLOCK);
    if (!options.input.empty()) {
      REQUIRE(::write(in.ours, options.input.data(), options.input.size()) ==
              static_cast<ssize_t>(options.input.size()));
    }
    ::close(in.ours);
  }
  out_ = out.ours;
  err_ = err.ours;
}

void LaunchRun::become(const std::vector<std::string>& words, const Options& options) {
  ::setenv("LAUNCH_RUN_MARK", mark_.c_str(), 1);
  ::setenv("OUT", folder_.path().c_str(), 1);
  for (const auto& [name, value] : options.environment) ::setenv(name.c_str(), value.c_str(), 1);
  if (options.open_files != 0) {
    const auto limit = static_cast<rlim_t>(options.open_files);
    rlimit files{};
    ::getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = limit;
    ::setrlimit(RLIMIT_NOFILE, &files);
  }
  for (const int fd : options.closed) ::close(fd);
  std::vector<char*> argv;
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  ::execvp(argv[0], argv.data());
  ::_exit(99);
}

LaunchRun::~LaunchRun() {
  if (!ended_) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  for (const pid_t pid : survivors()) ::kill(pid, SIGKILL);
  close_if_open(out_);
  close_if_open(err_);
}

void LaunchRun::send(int signal) const { ::kill(pid_, signal); }

void LaunchRun::type(const std::string& text) const {
  REQUIRE(::write(out_, text.data(), text.size()) == static_cast<ssize_t>(text.size()));
}

void LaunchRun::close_output() { close_if_open(out_); }

void LaunchRun::resize(int columns) const {
  const winsize size{30, static_cast<unsigned short>(columns), 0, 0};
  ::ioctl(out_, TIOCSWINSZ, &size);
}

void LaunchRun::pump(std::chrono::milliseconds limit) {
  pollfd fds[] = {{out_, POLLIN, 0}, {err_, POLLIN, 0}};
  if (::poll(fds, 2, static_cast<int>(limit.count())) <= 0) return;
  if (fds[0].revents != 0 && !read_into(out_, end_.out)) close_if_open(out_);
  if (fds[1].revents != 0 && !read_into(err_, end_.err)) close_if_open(err_);
}

void LaunchRun::touch(const std::string& name) const { std::ofstream(path(name)).flush(); }

void LaunchRun::wait_for_file(const std::string& name) const {
  const auto deadline = Clock::now() + patience;
  while (::access(path(name).c_str(), F_OK) != 0) {
    INFO("waiting for " << name << "; stderr: " << end_.err << "; stdout: " << end_.out);
    REQUIRE(Clock::now() < deadline);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

void LaunchRun::wait_for_output(const std::string& text) {
  const auto deadline = Clock::now() + patience;
  while (end_.out.find(text) == std::string::npos && end_.err.find(text) == std::string::npos) {
    INFO("waiting for '" << text << "'; stderr: " << end_.err << "; stdout: " << end_.out);
    REQUIRE(Clock::now() < deadline);
    pump(std::chrono::milliseconds(20));
  }
}

LaunchEnd LaunchRun::wait() {
  const auto deadline = Clock::now() + patience;
  while (!ended_) {
    ended_ = ::waitpid(pid_, &status_, WNOHANG) == pid_;
    INFO("stderr: " << end_.err << "; stdout: " << end_.out.substr(0, 2000));
    REQUIRE(Clock::now() < deadline);
    if (!ended_) pump(std::chrono::milliseconds(2));
  }
  for (int fd : {out_, err_}) {
    // Not until its end: that is for the test to find out, where something keeps it open.
    if (fd >= 0) ::fcntl(fd, F_SETFL, O_NONBLOCK);
  }
  while (out_ >= 0 && read_into(out_, end_.out)) {
  }
  while (err_ >= 0 && read_into(err_, end_.err)) {
  }
  end_.signal = WIFSIGNALED(status_) ? WTERMSIG(status_) : 0;
  end_.code = end_.signal != 0 ? 128 + end_.signal : WEXITSTATUS(status_);
  return end_;
}

std::vector<pid_t> LaunchRun::survivors() const {
  std::vector<pid_t> pids;
  DIR* folder = ::opendir("/proc");
  while (const dirent* entry = ::readdir(folder)) {
    const int pid = std::atoi(entry->d_name);
    const std::string text = pid > 0 ? file_text("/proc/" + std::to_string(pid) + "/environ") : "";
    if (text.find(std::string("LAUNCH_RUN_MARK=") + mark_ + '\0') != std::string::npos)
      pids.push_back(pid);
  }
  ::closedir(folder);
  return pids;
}

std::vector<pid_t> LaunchRun::survivors_after_a_second() const {
  for (int i = 0; i < 100 && !survivors().empty(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  return survivors();
}

LaunchEnd launch(std::vector<std::string> arguments, LaunchRun::Options options) {
  return LaunchRun(std::move(arguments), std::move(options)).wait();
}

}  // namespace muster::test
