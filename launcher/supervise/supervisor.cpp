#include "supervisor.hpp"

#include <muster/contract.hpp>

#include "supervise/descriptors.hpp"
#include "supervise/kernel.hpp"
#include "supervise/traces.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace muster::launcher {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

/// A signal that comes twice at once was sent twice by one cause: a group and its member.
constexpr std::int64_t one_cause_ns = 200'000'000;
/// Ranks that die of a signal which is meant for the whole job may do so before we have it.
constexpr std::int64_t settle_ns = 100'000'000;
/// Of processes that take their time to die.
constexpr seconds patience{5};
/// How long output of the dead is waited for.
constexpr seconds drain_time{2};

/// The reader of our stdout is gone.
bool stdout_is_broken() {
  pollfd out{STDOUT_FILENO, 0, 0};
  return ::poll(&out, 1, 0) == 1 && (out.revents & (POLLERR | POLLHUP)) != 0;
}

Inherited with_room_for(std::size_t ranks, bool logs) {
  Inherited inherited;
  raise_file_limit(ranks, logs, inherited);
  return inherited;
}

}  // namespace

Supervisor::Supervisor(const Plan& plan, const JobOptions& options,
                       const std::vector<std::string>& programs, ReservedPort& port, NodeLink* link)
    : plan_(plan),
      options_(options),
      programs_(programs),
      inherited_(with_room_for(plan.ranks.size(), options.logs())),
      modes_(STDIN_FILENO),
      logs_(options.log_dir, plan),
      channels_(plan.ranks.size(), options),
      input_(plan.ranks.size(), options),
      control_(plan.ranks.size()),
      link_(link) {
  signals_.describe(inherited_);
  inherited_.launcher = ::getpid();
  inherited_.stop_on_exec = options.stop_on_exec;
  facts_.started_ns = monotonic_ns();
  facts_.first_rank = plan.ranks.front().world.rank;
  facts_.ranks.resize(plan.ranks.size());
  start(port.socket.get());
}

Supervisor::~Supervisor() {
  if (link_) link_->stop();
}

void Supervisor::start(int master) {
  std::vector<RankImage> images;
  images.reserve(programs_.size());
  for (std::size_t i = 0; i < programs_.size(); ++i) {
    const auto [out, err] = channels_.descriptors_of(i);
    ProcessSpec spec = plan_.ranks[i];
    if (options_.prefixed()) spec.set.set(std::string(contract::prefixed), "1");
    images.emplace_back(spec, programs_[i],
                        RankDescriptors{.standard = {input_.descriptor_of(i), out, err},
                                        .control = control_.descriptor_of(i),
                                        .memory = control_.memory(),
                                        .master = plan_.ranks[i].world.rank == 0 ? master : -1});
  }
  guardian_ = start_guardian(images, inherited_, plan_.run_directory);
  facts_.guardian_pid = guardian_.pid;
  channels_.close_theirs();
  input_.close_theirs();
  control_.close_theirs();
}

void Supervisor::watch() {
  memory_ = std::make_unique<MemoryWatch>(Sysroot());
  constexpr auto readable = EventLoop::Direction::readable;
  guardian_watch_ = loop_.watch(guardian_.socket.get(), readable, [this] { on_guardian(); });
  signals_watch_ = loop_.watch(signals_.descriptor(), readable, [this] { on_signals(); });
  output_ = std::make_unique<Output>(loop_, channels_, logs_, options_, [this] { on_output(); });
  if (link_) {
    link_->start(loop_, {.end = [this](int signal) { end_job(Cause::other_host, signal); },
                         .kill =
                             [this] {
                               if (!gone_) kill_now();
                             },
                         .decided = [this] { finish_if_done(); }});
  }
  start_diagnosis();
  input_.start(loop_);
  if (options_.timeout) {
    timeout_ = loop_.timer();
    timeout_->set(*options_.timeout, [this] { end_job(Cause::timeout, SIGTERM); });
  }
}

JobFacts Supervisor::run() {
  watch();
  loop_.run();
  collect_facts();
  return std::move(facts_);
}

void Supervisor::on_guardian() {
  Event event;
  while (!gone_) {
    const ssize_t size = ::recv(guardian_.socket.get(), &event, sizeof event, MSG_DONTWAIT);
    if (size == sizeof event) {
      on_event(event);
    } else if (size < 0 && errno == EAGAIN) {
      return;
    } else if (size < 0 && (errno == EINTR || errno == ECONNRESET)) {
      continue;  // Reset: it ended before it read an order; what it had said before still comes.
    } else {
      on_guardian_lost();
    }
  }
}

void Supervisor::on_event(const Event& event) {
  switch (event.kind) {
    case Event::Kind::started: {
      RankFacts& rank = facts_.ranks.at(static_cast<std::size_t>(event.rank));
      rank.pid = event.pid;
      rank.started_ns = event.monotonic_ns;
      if (options_.stop_on_exec) tell_stopped(facts_.first_rank + event.rank, event.pid);
      break;
    }
    case Event::Kind::not_started:
      on_not_started(event);
      break;
    case Event::Kind::warning:
      output_->notice("muster: " + describe_start_warning(facts_.first_rank + event.rank,
                                                          event.stage, event.error));
      break;
    case Event::Kind::ended:
      on_ended(event);
      break;
    case Event::Kind::unkillable:
      facts_.unkillable.push_back(event.pid);
      break;
    case Event::Kind::all_gone:
      ::waitpid(guardian_.pid, nullptr, 0);
      all_gone();
      break;
  }
}

void Supervisor::on_not_started(const Event& event) {
  facts_.cause = Cause::not_started;
  facts_.stopped_ns = monotonic_ns();
  if (link_) link_->tell_end(SIGTERM);
  const auto rank = static_cast<std::size_t>(std::max(event.rank, 0));
  facts_.fault = describe_start_fault(plan_.ranks[rank].argv.front(), programs_[rank], event.stage,
                                      event.error);
}

void Supervisor::on_ended(const Event& event) {
  RankFacts& rank = facts_.ranks.at(static_cast<std::size_t>(event.rank));
  rank.end = event;
  rank.ended = true;
  if (event.signal == SIGKILL && event.signalled == 0) rank.out_of_memory = memory_->claim_kill();
  if (event.code == 0 && event.signal == 0) return;
  // What is in the pipes now was said before we stop anybody; when exactly, nobody knows any more.
  if (facts_.cause == Cause::none) output_->catch_up(event.monotonic_ns - 1);
  const bool reader_gone = channels_.direct() && event.signal == SIGPIPE && stdout_is_broken();
  end_job(reader_gone ? Cause::broken_output : Cause::rank_failed, reader_gone ? SIGPIPE : SIGTERM);
}

void Supervisor::end_job(Cause cause, int signal) {
  if (facts_.cause != Cause::none) return;
  facts_.cause = cause;
  facts_.signal = signal;
  facts_.stopped_ns = monotonic_ns();
  if (timeout_) timeout_->cancel();
  if (diagnosis_) diagnosis_->ending();
  if (link_ && cause != Cause::other_host) link_->tell_end(signal == SIGPIPE ? SIGTERM : signal);
  if (gone_) {
    if (told_hosts_) report_to_hosts();
    return;
  }
  if (options_.grace.count() <= 0) {
    kill_now();
    return;
  }
  order(Order::Kind::end, signal == SIGPIPE ? SIGTERM : signal);
  grace_ = loop_.timer();
  grace_->set(options_.grace, [this] { kill_now(); });
}

void Supervisor::kill_now() {
  order(Order::Kind::kill, SIGKILL);
  if (last_resort_) return;
  // A guardian that is stopped obeys nobody. Its end is noticed, and takes the ranks with it.
  last_resort_ = loop_.timer();
  last_resort_->set(patience + seconds(2), [this] { ::kill(guardian_.pid, SIGKILL); });
}

void Supervisor::order(Order::Kind kind, int signal, int rank) const {
  const Order command{kind, signal, rank};
  // If it cannot be sent the guardian is gone, which is noticed by reading.
  ::send(guardian_.socket.get(), &command, sizeof command, MSG_NOSIGNAL);
}

void Supervisor::on_signals() {
  while (const auto info = signals_.next()) on_signal(*info);
}

void Supervisor::on_signal(const signalfd_siginfo& info) {
  const int signal = static_cast<int>(info.ssi_signo);
  switch (signal) {
    case SIGUSR1:
    case SIGUSR2:
      order(Order::Kind::notify, signal);
      return;
    case SIGTSTP:
      suspend();
      return;
    case SIGINT:
      // A debugger in front of a person takes it to interrupt its program.
      if (info.ssi_code != SI_KERNEL || !has_the_terminal()) break;
      order(Order::Kind::notify, SIGINT, options_.terminal);
      return;
    case SIGQUIT:
      if (!gone_) diagnosis_->asked();
      return;
    case SIGWINCH:
      output_->resize();
      order(Order::Kind::notify, signal);
      return;
    default:
      break;
  }
  if (follows_failure(signal)) facts_.cause = Cause::none;
  const bool again = facts_.cause != Cause::none;
  const bool from_terminal = signal == SIGINT && info.ssi_code == SI_KERNEL;
  if (!again) {
    facts_.from_terminal = from_terminal;
    end_job(Cause::signal, signal);
  } else if (facts_.cause == Cause::rank_failed && facts_.signal_after == 0) {
    facts_.signal_after = signal;
    facts_.from_terminal = from_terminal;
  }
  if (again && signal == SIGINT && monotonic_ns() - facts_.stopped_ns > one_cause_ns) {
    kill_now();
    if (link_) link_->tell_kill();
  }
  // Only a reader of our output was waited for, or other hosts, by somebody who does not any more.
  if (gone_ && (!link_ || link_->decided() || again)) loop_.stop();
}

/// Whether Ctrl-C is for the one rank that has our terminal; of a job that is being ended it is
/// wanted by nobody else than us.
bool Supervisor::has_the_terminal() const {
  if (options_.terminal < 0 || gone_ || facts_.cause != Cause::none) return false;
  return !facts_.ranks[static_cast<std::size_t>(options_.terminal)].ended;
}

/// A scheduler, or a whole group's signal, reached the ranks as well, and first.
bool Supervisor::follows_failure(int signal) const {
  if (facts_.cause != Cause::rank_failed || monotonic_ns() - facts_.stopped_ns > settle_ns)
    return false;
  return std::ranges::any_of(facts_.ranks, [signal](const RankFacts& rank) {
    return rank.ended && rank.end.signalled == 0 &&
           (rank.end.signal == signal || rank.end.code == 128 + signal);
  });
}

void Supervisor::suspend() {
  order(Order::Kind::pass_on, SIGSTOP);
  ::raise(SIGSTOP);
  order(Order::Kind::pass_on, SIGCONT);
  diagnosis_->resumed();
}

void Supervisor::on_guardian_lost() {
  diagnosis_->finish();  // What is below waits for any child, also for those that it traces.
  if (facts_.cause == Cause::none || facts_.cause == Cause::rank_failed)
    facts_.cause = Cause::guardian_lost;
  if (facts_.stopped_ns == 0) facts_.stopped_ns = monotonic_ns();
  if (link_) link_->tell_end(SIGTERM);
  const auto reap = [this] {
    int status = 0;
    pid_t pid = 0;
    while ((pid = ::waitpid(-1, &status, WNOHANG)) > 0) {
      const auto rank = std::ranges::find(facts_.ranks, pid, &RankFacts::pid);
      if (rank == facts_.ranks.end() || rank->ended) continue;
      rank->ended = true;
      rank->end.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
      rank->end.code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
      rank->end.signalled = 1;
      rank->end.monotonic_ns = monotonic_ns();
    }
  };
  // The ranks die with their parent; what they had started has become ours.
  for (const pid_t pid : guardian_.tree.kill(patience, reap)) facts_.unkillable.push_back(pid);
  reap();
  all_gone();
}

void Supervisor::all_gone() {
  on_signals();  // What came before the end is why the job ended.
  gone_ = true;
  gone_ns_ = monotonic_ns();
  diagnosis_->ending();
  last_resort_.reset();
  guardian_watch_.reset();
  finish_if_done();
  if (!output_->ended()) drain();
}

void Supervisor::drain() {
  if (!drain_) drain_ = loop_.timer();
  drain_->set(drain_time, [this] {
    // Only a slow reader is waited for, not a stranger that keeps a pipe open.
    if (output_->flushed()) output_->stop_reading();
    report_to_hosts();
    // Nor is a slow reader waited for without an end by somebody who wants us to go.
    const auto waited = std::chrono::nanoseconds(monotonic_ns() - gone_ns_);
    if (facts_.cause == Cause::signal && !output_->flushed() && waited > patience) {
      loop_.stop();
      return;
    }
    if (!output_->ended()) drain();
    finish_if_done();
  });
}

void Supervisor::on_output() {
  const int error = output_->error();
  if (error == EPIPE) {
    output_->stop_reading();
    end_job(Cause::broken_output, SIGPIPE);
  } else if (error != 0 && !told_of_output_) {
    told_of_output_ = true;
    output_->notice(std::string("muster: cannot write to stdout: ") + std::strerror(error) +
                    "; the ranks run on, what they print is lost");
  }
  finish_if_done();
}

void Supervisor::finish_if_done() {
  if (!gone_ || !output_->ended()) return;
  if (!lines_closed_) {
    lines_closed_ = true;
    output_->close_lines(facts_.cause != Cause::none);
  }
  if (link_ && !told_hosts_) report_to_hosts();
  if (link_ && !link_->decided()) return;
  if (output_->flushed()) loop_.stop();
}

void Supervisor::report_to_hosts() {
  if (!link_) return;
  told_hosts_ = true;
  collect_facts();
  link_->report(outcome_of(facts_));
}

void Supervisor::collect_facts() {
  control_.drain();
  facts_.memory = memory_->kills();
  for (std::size_t i = 0; i < facts_.ranks.size(); ++i) {
    RankFacts& rank = facts_.ranks[i];
    rank.record = control_.record_of(i);
    rank.note = control_.note_of(i);
    const int index = static_cast<int>(i);
    if (const Tail* tail = output_->error_tail_of(index)) rank.stderr_lines = tail->lines();
    if (const Tail* tail = output_->tail_of(index)) rank.last_lines = tail->last_lines();
    rank.shown = options_.shown.contains(index);
    rank.stdout_log = logs_.path_of(i, STDOUT_FILENO);
    rank.stderr_log = logs_.path_of(i, STDERR_FILENO);
  }
  collect_traces(plan_, programs_, facts_.ranks);
}

}  // namespace muster::launcher
