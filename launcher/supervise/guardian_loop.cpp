#include "guardian_loop.hpp"

#include "supervise/kernel.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <system_error>
#include <unistd.h>

namespace muster::launcher {
namespace {

/// Keys of the descriptors that are not a rank's pidfd, whose keys are 0, 1, ...
constexpr std::uint64_t socket_key = ~0ULL, records_key = ~1ULL, children_key = ~2ULL;

/// For processes that take their time to die: large ones do.
constexpr std::chrono::seconds patience{5};

}  // namespace

GuardianLoop::GuardianLoop(Ends ends, RankProcesses ranks, JobTree tree, std::string run_directory)
    : socket_(std::move(ends.socket)),
      records_(std::move(ends.records)),
      epoll_(::epoll_create1(EPOLL_CLOEXEC)),
      stacks_(std::move(ends.stacks)),
      ranks_(std::move(ranks)),
      tree_(std::move(tree)),
      run_directory_(std::move(run_directory)) {
  sigset_t child;
  sigemptyset(&child);
  sigaddset(&child, SIGCHLD);
  children_.reset(::signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK));
  ::fcntl(records_.get(), F_SETFL, O_NONBLOCK);
  ranks_.open_pidfds();
  watch(socket_.get(), socket_key);
  watch(records_.get(), records_key);
  watch(children_.get(), children_key);
  for (std::size_t i = 0; i < ranks_.all().size(); ++i) watch(ranks_.all()[i].pidfd.get(), i);
}

void GuardianLoop::watch(int fd, std::uint64_t key) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = key;
  if (fd >= 0) ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event);
}

bool GuardianLoop::tell(const Event& event) {
  ssize_t sent = 0;
  do {
    sent = ::send(socket_.get(), &event, sizeof event, MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  return sent >= 0;
}

void GuardianLoop::run(int refused) {
  for (const RankProcesses::Process& process : ranks_.all()) {
    tell({.kind = Event::Kind::started,
          .rank = process.rank,
          .pid = process.pid,
          .monotonic_ns = monotonic_ns()});
  }
  // Without them nothing would be noticed.
  if (refused == 0 && (!epoll_ || !children_)) refused = EMFILE;
  if (refused != 0) {
    tell({.kind = Event::Kind::not_started, .stage = StartStage::fork, .error = refused});
    end_all();
  }
  while (true) wait();
}

void GuardianLoop::wait() {
  epoll_event events[64];
  const int count = ::epoll_wait(epoll_.get(), events, 64, -1);
  for (int i = 0; i < count; ++i) {
    const std::uint64_t key = events[i].data.u64;
    if (key == socket_key) {
      on_order();
    } else if (key == records_key) {
      on_records();
    } else if (key == children_key) {
      on_child();
    } else {
      on_rank(ranks_.all()[key]);
    }
  }
  if (start_failed_ || launcher_gone_ || ranks_.living() == 0) end_all();
}

void GuardianLoop::on_order() {
  Order order;
  const ssize_t size = ::recv(socket_.get(), &order, sizeof order, MSG_DONTWAIT);
  if (size == sizeof order) {
    obey(order);
  } else if (size >= 0 || (errno != EAGAIN && errno != EINTR)) {
    launcher_gone_ = true;
  }
}

void GuardianLoop::obey(const Order& order) {
  switch (order.kind) {
    case Order::Kind::end:
      ranks_.mark_signalled();
      pass_on(order.signal);
      pass_on(SIGCONT);
      break;
    case Order::Kind::pass_on:
      pass_on(order.signal);
      break;
    case Order::Kind::notify:
      ranks_.signal_ranks(order.signal, order.rank);
      break;
    case Order::Kind::kill:
      ranks_.mark_signalled();
      end_all();
  }
}

void GuardianLoop::pass_on(int signal) {
  ranks_.signal_groups(signal);
  // What left its rank's group, but not the job.
  tree_.signal(signal, [this](pid_t, pid_t group) { return !ranks_.contains(group); });
}

void GuardianLoop::on_records() {
  StartRecord record;
  ssize_t size = 0;
  while (records_ && (size = ::read(records_.get(), &record, sizeof record)) == sizeof record) {
    if (record.fatal != 0 && start_failed_) continue;
    // What one rank is denied, all are.
    if (record.fatal == 0 && !warned_.insert(record.stage).second) continue;
    const auto kind = record.fatal != 0 ? Event::Kind::not_started : Event::Kind::warning;
    start_failed_ = start_failed_ || record.fatal != 0;
    tell({.kind = kind, .rank = record.rank, .stage = record.stage, .error = record.error});
  }
  if (size != 0) return;
  records_.reset();
  stacks_ = {};
}

void GuardianLoop::on_child() {
  signalfd_siginfo info;
  bool others = false;
  while (::read(children_.get(), &info, sizeof info) == sizeof info)
    others = others || !ranks_.contains(static_cast<pid_t>(info.ssi_pid));
  for (RankProcesses::Process& process : ranks_.all())
    if (!process.pidfd) on_rank(process);
  // One signal may stand for several children, so a rank's may hide an orphan's.
  if (others || ranks_.living() > 0) ranks_.reap_adopted();
}

void GuardianLoop::on_rank(RankProcesses::Process& process) {
  on_records();  // Why it did not start comes before that it ended.
  const auto event = ranks_.end_of(process);
  if (event) tell(*event);
  if (!process.pidfd) return;
  // Once readable it stays so: also if a debugger holds the dead. When it lets go, SIGCHLD comes.
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, process.pidfd.get(), nullptr);
  if (!event) process.pidfd.reset();
}

void GuardianLoop::collect() {
  for (RankProcesses::Process& process : ranks_.all())
    if (const auto event = ranks_.end_of(process)) tell(*event);
  ranks_.reap_adopted();
}

/// Returns what is still there.
std::vector<pid_t> GuardianLoop::kill_all() {
  if (ranks_.living() == 0) ranks_.reap_ended();
  const auto deadline = monotonic_ns() + std::chrono::nanoseconds(patience).count();
  auto left = tree_.kill(patience, [this] { collect(); });
  collect();
  // Dead, but not ours to reap: a debugger holds it.
  while (ranks_.living() > 0 && monotonic_ns() < deadline) {
    wait_for_child(std::chrono::milliseconds(10));
    collect();
  }
  for (const RankProcesses::Process& process : ranks_.all()) {
    const bool known = std::ranges::find(left, process.pid) != left.end();
    if (!process.ended && !known) left.push_back(process.pid);
  }
  return left;
}

void GuardianLoop::end_all() {
  for (const pid_t pid : kill_all()) tell({.kind = Event::Kind::unkillable, .pid = pid});
  const bool told = tell({.kind = Event::Kind::all_gone});
  if ((launcher_gone_ || !told) && !run_directory_.empty()) {
    std::error_code ignored;
    std::filesystem::remove_all(run_directory_, ignored);
  }
  ::_exit(0);
}

}  // namespace muster::launcher
