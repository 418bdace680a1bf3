// Stacks of processes that do not help, and that must not notice.

#include "diagnose/read_stacks.hpp"

#include "diagnose/process_files.hpp"

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <ctime>
#include <poll.h>
#include <string>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace muster::launcher {

// Named, so that they can be found on a stack; each does something after the call, so that it stays
// there.
[[gnu::noinline]] int nap_in_a_function(int depth) {
  volatile int kept = depth;
  if (depth > 0) {
    kept = nap_in_a_function(depth - 1);
  } else {
    const timespec whole{600, 0};
    ::nanosleep(&whole, nullptr);
  }
  return kept + 1;
}

[[gnu::noinline]] int spin_on_the_clock() {
  volatile int turns = 0;
  timespec now{};
  while (turns >= 0) {
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    turns = static_cast<int>(now.tv_nsec % 7);
  }
  return turns;
}

namespace {

volatile std::sig_atomic_t handled = 0;

[[gnu::noinline]] void nap_in_a_handler(int) {
  nap_in_a_function(1);
  handled = 1;
}

/// A child that runs `body`, and is killed in the end.
class Child {
 public:
  template <class Body>
  explicit Child(Body body) {
    int ends[2];
    REQUIRE(::pipe(ends) == 0);
    pid_ = ::fork();
    if (pid_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (::write(ends[1], "x", 1) == 1) body();
      ::_exit(0);
    }
    char letter = 0;
    REQUIRE(::read(ends[0], &letter, 1) == 1);
    ::close(ends[0]);
    ::close(ends[1]);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  pid_t pid() const { return pid_; }

  void wait_for_state(char state) const {
    for (int i = 0; i < 4000 && view_of(pid_).state != state; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    REQUIRE(view_of(pid_).state == state);
  }

 private:
  pid_t pid_ = -1;
};

RankState stacks_of(pid_t pid) {
  std::vector<RankState> ranks(1);
  ranks[0].pid = pid;
  std::thread reader(
      [&] { read_stacks(ranks, std::chrono::steady_clock::now() + std::chrono::seconds(20)); });
  reader.join();
  return ranks[0];
}

bool names(const ThreadStack& stack, const std::string& function) {
  return std::ranges::any_of(
      stack.frames, [&](const StackFrame& frame) { return frame.function.ends_with(function); });
}

std::string text_of(const ThreadStack& stack) {
  std::string text;
  for (const StackFrame& frame : stack.frames) text += frame.function + " (" + frame.module + ")\n";
  return text + stack.end;
}

}  // namespace

TEST_CASE("a sleeping process's stack is read from the call into the kernel to its start") {
  const Child child([] { nap_in_a_function(5); });
  child.wait_for_state('S');
  const auto rank = stacks_of(child.pid());
  CHECK(rank.unread.empty());
  REQUIRE(rank.threads.size() == 1);
  const auto& stack = rank.threads[0];
  INFO(text_of(stack));
  CHECK(stack.frames.front().function.find("nanosleep") != std::string::npos);
  CHECK(std::ranges::count_if(stack.frames, [](const StackFrame& frame) {
          return frame.function == "muster::launcher::nap_in_a_function";
        }) == 6);
  CHECK(names(stack, "main"));
  CHECK(stack.end.empty());
  CHECK(child.pid() == rank.threads[0].thread);
}

TEST_CASE("a stack is read while the clock is asked, whose code the kernel gave") {
  const Child child([] { spin_on_the_clock(); });
  auto rank = stacks_of(child.pid());
  REQUIRE(rank.threads.size() == 1);
  // At first it may still be in its write to us.
  for (int i = 0; i < 200 && names(rank.threads[0], "write"); ++i) rank = stacks_of(child.pid());
  REQUIRE(rank.threads.size() == 1);
  INFO(text_of(rank.threads[0]));
  CHECK(names(rank.threads[0], "spin_on_the_clock"));
  CHECK(names(rank.threads[0], "main"));
  CHECK(rank.threads[0].end.empty());
}

TEST_CASE("a stack goes on below a signal's handler") {
  const Child child([] {
    std::signal(SIGUSR1, nap_in_a_handler);
    std::raise(SIGUSR1);
  });
  child.wait_for_state('S');
  const auto rank = stacks_of(child.pid());
  REQUIRE(rank.threads.size() == 1);
  INFO(text_of(rank.threads[0]));
  CHECK(names(rank.threads[0], "nap_in_a_handler"));
  CHECK(names(rank.threads[0], "(signal)"));
  CHECK(names(rank.threads[0], "main"));
}

TEST_CASE("all threads are read, the first one first") {
  const Child child([] {
    std::thread one([] { nap_in_a_function(2); }), two([] { nap_in_a_function(3); });
    ::pause();
  });
  for (int i = 0; i < 4000 && threads_of(child.pid()).size() < 3; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  child.wait_for_state('S');
  RankState rank;
  for (int i = 0; i < 400; ++i) {  // The new threads have to get there.
    rank = stacks_of(child.pid());
    REQUIRE(rank.threads.size() == 3);
    if (names(rank.threads[1], "nap_in_a_function") && names(rank.threads[2], "nap_in_a_function"))
      break;
  }
  CHECK(rank.threads[0].thread == child.pid());
  CHECK(names(rank.threads[0], "pause"));
  CHECK(names(rank.threads[1], "nap_in_a_function"));
  CHECK(names(rank.threads[2], "nap_in_a_function"));
}

TEST_CASE("threads of a process whose first thread has ended are read") {
  const Child child([] {
    std::thread([] { nap_in_a_function(2); }).detach();
    ::syscall(SYS_exit, 0);
  });
  for (int i = 0; i < 4000 && view_of(child.pid()).state != 'S'; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  CHECK(view_of(child.pid()).state == 'S');
  CHECK(view_of(child.pid()).waits_in.find("nanosleep") != std::string::npos);
  const auto rank = stacks_of(child.pid());
  CHECK(rank.unread.empty());
  REQUIRE(rank.threads.size() == 1);
  CHECK(names(rank.threads[0], "nap_in_a_function"));
}

TEST_CASE("of a great many threads some are read, and the others are counted") {
  constexpr std::size_t count = 100;
  const Child child([] {
    std::vector<std::thread> threads;
    for (std::size_t i = 1; i < count; ++i) threads.emplace_back([] { nap_in_a_function(2); });
    ::pause();
  });
  for (int i = 0; i < 4000 && threads_of(child.pid()).size() < count; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  const auto rank = stacks_of(child.pid());
  CHECK(rank.threads.size() > 30);
  CHECK(rank.threads.size() + rank.unseen_threads == count);
}

TEST_CASE("a process that was looked at goes on as before") {
  SECTION("one that waits in poll() does not notice") {
    int ends[2];
    REQUIRE(::pipe(ends) == 0);
    Child child([&] {
      pollfd readable{ends[0], POLLIN, 0};
      ::_exit(::poll(&readable, 1, -1) == 1 ? 7 : 8);
    });
    child.wait_for_state('S');
    for (int i = 0; i < 20; ++i) CHECK(stacks_of(child.pid()).unread.empty());
    CHECK(view_of(child.pid()).tracer == 0);
    REQUIRE(::write(ends[1], "x", 1) == 1);
    siginfo_t info{};
    REQUIRE(::waitid(P_PID, static_cast<id_t>(child.pid()), &info, WEXITED | WNOWAIT) == 0);
    CHECK(info.si_status == 7);
  }
  SECTION("a stopped one stays stopped, and can be continued") {
    const Child child([] { nap_in_a_function(1); });
    child.wait_for_state('S');
    ::kill(child.pid(), SIGSTOP);
    child.wait_for_state('T');
    const auto rank = stacks_of(child.pid());
    REQUIRE(rank.threads.size() == 1);
    CHECK(names(rank.threads[0], "nap_in_a_function"));
    child.wait_for_state('T');
    ::kill(child.pid(), SIGCONT);
    child.wait_for_state('S');
  }
  SECTION("signals that come meanwhile are not lost") {
    static int answers[2];
    REQUIRE(::pipe(answers) == 0);
    const Child child([] {
      std::signal(SIGUSR1, [](int) {
        static int count = 0;
        if (++count == 200) ::_exit(7);
        if (::write(answers[1], "x", 1) != 1) ::_exit(8);
      });
      if (::write(answers[1], "x", 1) == 1)
        while (true) ::pause();
    });
    std::atomic<bool> done = false;
    std::thread looker([&] {
      while (!done) stacks_of(child.pid());
    });
    // One at a time, each after the one before was answered: none may be lost.
    char letter = 0;
    int sent = 0;
    while (sent < 200 && ::read(answers[0], &letter, 1) == 1) {
      ::kill(child.pid(), SIGUSR1);
      ++sent;
    }
    siginfo_t info{};
    do {  // This process traces it too, and so is told of its stops.
      REQUIRE(::waitid(P_PID, static_cast<id_t>(child.pid()), &info, WEXITED | WNOWAIT) == 0);
    } while (info.si_code == CLD_TRAPPED);
    done = true;
    looker.join();
    CHECK(info.si_status == 7);
  }
}

TEST_CASE("why a stack cannot be read is said") {
  SECTION("another process traces it") {
    const Child child([] { nap_in_a_function(1); });
    const Child tracer([&] {
      ::ptrace(PTRACE_SEIZE, child.pid(), nullptr, nullptr);
      ::pause();
    });
    for (int i = 0; i < 4000 && view_of(child.pid()).tracer == 0; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    const auto rank = stacks_of(child.pid());
    CHECK(rank.threads.empty());
    CHECK(rank.unread.starts_with("process " + std::to_string(tracer.pid()) + " ("));
  }
  SECTION("it is gone") {
    int pid = 0;
    {
      const Child child([] {});
      pid = child.pid();
    }
    CHECK(stacks_of(pid).unread == "it has ended");
  }
}

}  // namespace muster::launcher
