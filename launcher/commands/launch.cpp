#include <muster/error.hpp>

#include "commands/commands.hpp"
#include "commands/sources.hpp"
#include "devices/choose_devices.hpp"
#include "planning/address.hpp"
#include "planning/make_plan.hpp"
#include "planning/plan_text.hpp"
#include "planning/run_directory.hpp"
#include "port.hpp"
#include "report/failure.hpp"
#include "report/json_report.hpp"
#include "screen/screen.hpp"
#include "supervise.hpp"

#include <fmt/core.h>

#include <csignal>
#include <cstdint>
#include <optional>
#include <sys/random.h>
#include <unistd.h>
#include <utility>

namespace muster::launcher {
namespace {

constexpr CommandFlag flags[] = {
    {"--module", 'm', "", "The program is a Python module; ends muster's options."},
    {"--config", 0, "FILE", "Settings file, instead of ./muster.toml."},
    {"--no-config", 0, "", "Read no settings file."},
    {"--dry-run", 0, "", "Print what each rank would run, and start nothing."},
    {"--report", 0, "FILE", "Write how the job ended to FILE, as JSON."},
    {"--quiet", 'q', "", "Of muster's own lines only the first of a failure."},
    {"--verbose", 'v', "", "Say what was decided, and which flags had no effect."},
    {"--help", 'h', "", "This text."},
};

/// What one launch needs at hand in all its stages.
struct Launch {
  CommandLine line;
  const Environment& environment;
  std::vector<std::string> command_line;

  bool quiet() const { return line.has("--quiet"); }
  bool verbose() const { return line.has("--verbose"); }
};

std::string random_id() {
  std::uint32_t number = 0;
  if (::getrandom(&number, sizeof number, GRND_NONBLOCK) < 0) {
    number = static_cast<std::uint32_t>(::getpid());
  }
  return fmt::format("{:08x}", number);
}

/// The one line of a launch that decided something by itself: how many ranks, or that it took a
/// file.
void announce(const Launch& launch, const Resolution& resolution, const Plan& plan) {
  if (launch.quiet()) return;
  std::string text = plan.why_ranks;
  for (const auto& note : resolution.notes()) text += (text.empty() ? "" : "; ") + note;
  if (!text.empty()) complain(text, launch.environment);
}

/// Settings that only our runtime obeys, given for a program that does not use it.
void tell_unused(const Resolution& resolution, const Environment& environment) {
  std::string unused;
  for (const auto& entry : resolution.entries()) {
    if (entry.setting->section != "train") continue;
    if (entry.origin.kind == Origin::Kind::built_in) continue;
    unused += fmt::format("{}{} ({})", unused.empty() ? "" : ", ", entry.setting->id(),
                          to_text(entry.origin));
  }
  if (unused.empty()) return;
  complain("no effect: " + unused + "; no rank used muster's runtime", environment);
}

/// A program of Python's tells the text of its exception in the file it was given for that.
void add_error_files(Outcome& outcome, const Plan& plan) {
  const auto add = [&](RankEnd& end) {
    if (end.exit_code == 0 || !end.text.empty()) return;
    const auto& set = plan.ranks.at(static_cast<std::size_t>(end.rank)).set;
    const auto path = set.find("TORCHELASTIC_ERROR_FILE");
    if (path != set.end()) end.text = read_error_file(path->second);
  };
  for (auto& end : outcome.ranks) add(end);
  if (outcome.first) add(*outcome.first);
}

void tell_end(const Launch& launch, const Resolution& resolution, Outcome& outcome,
              const Plan& plan) {
  add_error_files(outcome, plan);
  const auto screen = Screen::of(STDERR_FILENO, launch.environment);
  print_error(failure_text(outcome, plan, screen, launch.quiet()));
  // A job that failed may have failed before its runtime could say that it is there.
  const bool unused = outcome.kind == OutcomeKind::ok && !outcome.ready_seen;
  if (unused && !launch.quiet()) tell_unused(resolution, launch.environment);
  if (const auto path = launch.line.value("--report")) {
    write_report(*path, json_report(outcome, plan, launch.command_line));
  }
}

/// A shell stops a loop only if the program in it died of the signal too.
int exit_code_of(const Outcome& outcome) {
  if (outcome.kind == OutcomeKind::interrupted && outcome.from_terminal) {
    std::signal(SIGINT, SIG_DFL);
    sigset_t only;
    sigemptyset(&only);
    sigaddset(&only, SIGINT);
    sigprocmask(SIG_UNBLOCK, &only, nullptr);
    std::raise(SIGINT);  // Does nothing to process 1, which goes on and exits with the code.
  }
  return outcome.exit_code;
}

int start(const Launch& launch) {
  const auto& line = launch.line;
  const auto& environment = launch.environment;
  if (line.program.empty()) {
    throw ConfigError("no program given; for example: muster launch -n 2 -- ./train --epochs 3");
  }
  if (const auto path = line.value("--report")) check_report_path(*path);
  const auto resolution = resolve(sources_of(line, environment));
  const auto& settings = resolution.settings();
  const auto topology = discover(Sysroot(), nvml_use(settings.launch, environment));

  Job job{line.program, line.module, environment, random_id(), "", "", 0};
  job.address = literal_address(settings.launch.master_addr);
  job.port = static_cast<std::uint16_t>(settings.launch.master_port);
  if (line.has("--dry-run")) {
    print_out(plan_text(make_plan(resolution, topology, job), settings.train, topology.cpus,
                        environment, Screen::of(STDOUT_FILENO, environment)));
    return 0;
  }
  Outcome outcome;
  {
    const RunDirectory directory(environment);
    auto port = reserve_port(job.address, job.port);
    job.run_directory = directory.path();
    job.port = port.port;
    const auto plan = make_plan(resolution, topology, job);
    announce(launch, resolution, plan);
    if (launch.verbose()) {
      for (const auto& note : line.notes) complain(note, environment);
      print_error(plan_text(plan, settings.train, topology.cpus, environment,
                            Screen::of(STDERR_FILENO, environment)));
    }
    outcome = supervise(plan, settings.launch, std::move(port));
    tell_end(launch, resolution, outcome, plan);
  }
  return exit_code_of(outcome);
}

/// Where the words say that the report goes, though they could not be read to the end.
std::optional<std::string> report_path(const CommandLine& so_far, Words words) {
  constexpr std::string_view flag = "--report";
  if (auto path = so_far.value(flag)) return path;
  for (std::size_t at = 0; at < words.size() && words[at] != "--"; ++at) {
    const auto word = look_up(words[at], flags);
    if (word.name != flag) continue;
    if (word.value) return word.value;
    if (at + 1 < words.size()) return words[at + 1];
  }
  return std::nullopt;
}

/// Wrong usage, and what kept muster from starting the job, are reported too.
void report_error(const Launch& launch, Words words, const Error& error) {
  const auto path = report_path(launch.line, words);
  if (!path) return;
  Outcome outcome;
  const bool usage = error.exit_code() == ExitCode::usage;
  outcome.kind = usage ? OutcomeKind::usage : OutcomeKind::lost;
  outcome.exit_code = static_cast<int>(error.exit_code());
  outcome.message = error.what();
  try {
    write_report(*path, json_report(outcome, {}, launch.command_line));
  } catch (const Error&) {
    // The first error is the one to tell.
  }
}

}  // namespace

std::span<const CommandFlag> launch_flags() { return flags; }

int launch(Words words, const Environment& environment) {
  Launch launch{{}, environment, {"muster", "launch"}};
  launch.command_line.insert(launch.command_line.end(), words.begin(), words.end());
  try {
    parse_words(words, {"launch", flags, true, true}, &launch.line);
    if (launch.line.has("--help")) {
      print_out(help_of("launch", Screen::of(STDOUT_FILENO, environment).width));
      return 0;
    }
    return start(launch);
  } catch (const Error& error) {
    report_error(launch, words, error);
    throw;
  }
}

}  // namespace muster::launcher
