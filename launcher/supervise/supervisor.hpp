#pragma once

#include "diagnose/diagnosis.hpp"
#include "port.hpp"
#include "rendezvous/node_link.hpp"
#include "supervise.hpp"
#include "supervise/channels.hpp"
#include "supervise/control_server.hpp"
#include "supervise/event_loop.hpp"
#include "supervise/guardian.hpp"
#include "supervise/input.hpp"
#include "supervise/job_facts.hpp"
#include "supervise/job_options.hpp"
#include "supervise/log_folder.hpp"
#include "supervise/output.hpp"
#include "supervise/signals.hpp"
#include "supervise/terminal.hpp"

#include <memory>
#include <vector>

namespace muster::launcher {

/// One run of all ranks, from the launcher's side: tells the guardian what to do, passes on what
/// ranks say, and keeps what is needed to tell how it ended.
class Supervisor {
 public:
  /// Starts the ranks: `programs` are their executables, in rank order; `link` leads to the
  /// launchers of other hosts, or is null. Throws Error.
  Supervisor(const Plan& plan, const JobOptions& options, const std::vector<std::string>& programs,
             ReservedPort& port, NodeLink* link);

  Supervisor(const Supervisor&) = delete;
  Supervisor& operator=(const Supervisor&) = delete;
  ~Supervisor();

  /// Blocks until nothing of the job is left. Call once.
  JobFacts run();

 private:
  void start(int master);
  void watch();
  void start_diagnosis();
  void tell_stopped(int rank, int pid);
  void tell_hang(const HangFacts& hang);

  void on_guardian();
  void on_event(const Event& event);
  void on_ended(const Event& event);
  void on_not_started(const Event& event);
  void on_guardian_lost();
  void on_signals();
  void on_signal(const signalfd_siginfo& info);
  void on_output();

  void end_job(Cause cause, int signal);
  void kill_now();
  void suspend();
  void order(Order::Kind kind, int signal, int rank = -1) const;
  bool has_the_terminal() const;
  bool follows_failure(int signal) const;
  void all_gone();
  void drain();
  void finish_if_done();
  void collect_facts();
  /// Tells the other hosts how this one's part ended, once all of it is known.
  void report_to_hosts();

  EventLoop loop_;  ///< First, so that it is destroyed after all that it watches for.
  const Plan& plan_;
  const JobOptions& options_;
  const std::vector<std::string>& programs_;
  Inherited inherited_;
  JobFacts facts_;
  TerminalModes modes_;
  Signals signals_;
  LogFolder logs_;
  Channels channels_;
  Input input_;
  ControlServer control_;
  GuardianHandle guardian_;
  std::unique_ptr<MemoryWatch> memory_;
  NodeLink* link_;
  std::unique_ptr<Output> output_;
  std::unique_ptr<EventLoop::Watch> guardian_watch_, signals_watch_;
  std::unique_ptr<Diagnosis> diagnosis_;
  std::unique_ptr<EventLoop::Timer> grace_, timeout_, drain_, last_resort_;
  std::int64_t gone_ns_ = 0;
  bool gone_ = false;  ///< Nothing of the job is left but what it printed.
  bool lines_closed_ = false;
  bool told_of_output_ = false;
  bool told_hosts_ = false;
};

}  // namespace muster::launcher
