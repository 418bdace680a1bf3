#include "commands/run_job.hpp"

#include <muster/error.hpp>

#include "commands/launch_end.hpp"
#include "planning/interface_note.hpp"
#include "planning/plan_text.hpp"
#include "planning/run_directory.hpp"
#include "port.hpp"
#include "report/failure.hpp"
#include "report/signal_name.hpp"
#include "screen/screen.hpp"
#include "supervise/kernel.hpp"
#include "supervise/restart_policy.hpp"
#include "supervise/signal_hold.hpp"

#include <fmt/core.h>

#include <csignal>
#include <unistd.h>
#include <utility>

namespace muster::launcher {
namespace {

/// The starts of one job, one after the other.
class Starts {
 public:
  Starts(const CommandLine& line, const Resolution& resolution, const Topology& topology, Job job)
      : line_(line),
        resolution_(resolution),
        settings_(resolution.settings().launch),
        topology_(topology),
        job_(std::move(job)),
        asked_port_(job_.port),
        screen_(Screen::of(STDERR_FILENO, job_.environment)) {}

  JobEnd run() {
    std::vector<Outcome> earlier;
    start();
    while (may_go_on()) {
      Outcome failed = std::exchange(end_.outcome, {});
      ++job_.restart_count;
      try {
        start();
        earlier.push_back(std::move(failed));
      } catch (const Error& error) {
        end_.outcome = std::move(failed);
        complain(std::string("not restarted: ") + error.what(), job_.environment);
        break;
      }
    }
    if (!earlier.empty()) end_.outcome.started = earlier.front().started;
    end_.outcome.earlier = std::move(earlier);
    end_.outcome.seconds = Seconds(elapsed()).count();
    return std::move(end_);
  }

 private:
  void start() {
    const RunDirectory directory(job_.environment);
    auto port = reserve_port(job_.address, asked_port_);
    job_.run_directory = directory.path();
    job_.port = port.port;
    end_.plan = make_plan(resolution_, topology_, job_);
    if (job_.restart_count == 0) announce_start(line_, resolution_, topology_, job_, end_.plan);
    end_.outcome = supervise(end_.plan, settings_, std::move(port),
                             {.elapsed = elapsed(),
                              .names = SettingNames(resolution_),
                              .link = nullptr,
                              .quiet = line_.has("--quiet")});
    if (job_.collect) job_.collect(end_.plan);
  }

  /// Whether the ranks are to be started again; says so, or why not if that is not plain.
  bool may_go_on() {
    Outcome& outcome = end_.outcome;
    if (!may_restart(settings_, outcome, job_.restart_count)) return false;
    if (settings_.timeout && elapsed() >= *settings_.timeout) {
      tell("not restarted: no time is left (" + SettingNames(resolution_).of("launch.timeout") +
           ")");
      return false;
    }
    const auto late = outcome.signal == 0 ? hold_.take_ending() : std::nullopt;
    if (late) {
      outcome.signal = late->si_signo;
      outcome.from_terminal = late->si_signo == SIGINT && late->si_code == SI_KERNEL;
    }
    if (outcome.signal != 0) {
      // Without it the job would have gone on: so that is what ended it.
      tell("not restarted: " + signal_name(outcome.signal) + " came");
      outcome.kind = OutcomeKind::interrupted;
      outcome.exit_code = 128 + outcome.signal;
      return false;
    }
    tell(fmt::format("restart {} of {}", job_.restart_count + 1, settings_.max_restarts));
    return true;
  }

  /// One line: the failure, and what follows.
  void tell(const std::string& what) const {
    auto text = failure_text(end_.outcome, end_.plan, screen_, true);
    if (text.ends_with('\n')) text.pop_back();
    print_error(text + "; " + what + "\n");
  }

  std::chrono::nanoseconds elapsed() const {
    return std::chrono::nanoseconds(monotonic_ns() - started_ns_);
  }

  const SignalHold hold_;  ///< First: no signal may end us while there is a folder.
  const CommandLine& line_;
  const Resolution& resolution_;
  const LaunchSettings& settings_;
  const Topology& topology_;
  Job job_;
  std::uint16_t asked_port_;
  Screen screen_;
  std::int64_t started_ns_ = monotonic_ns();
  JobEnd end_;
};

}  // namespace

void announce_choices(const Resolution& resolution, const std::string& why,
                      const Environment& environment) {
  std::string text = why;
  for (const auto& note : resolution.notes()) text += (text.empty() ? "" : "; ") + note;
  if (!text.empty()) complain(text, environment);
}

void announce_start(const CommandLine& line, const Resolution& resolution, const Topology& topology,
                    const Job& job, const Plan& plan) {
  const auto& level = resolution.settings().log.level;
  if (!line.has("--quiet") && (level == "info" || level == "debug")) {
    announce_choices(resolution, plan.why_ranks, job.environment);
    for (const auto& note : {plan.bind_note, interface_note(plan)})
      if (!note.empty()) complain(note, job.environment);
  }
  if (!line.has("--verbose")) return;
  for (const auto& note : line.notes) complain(note, job.environment);
  print_error(plan_text(plan, resolution.settings().train, topology.cpus, job.environment,
                        Screen::of(STDERR_FILENO, job.environment)));
}

JobEnd run_job(const CommandLine& line, const Resolution& resolution, const Topology& topology,
               Job job) {
  return Starts(line, resolution, topology, std::move(job)).run();
}

}  // namespace muster::launcher
