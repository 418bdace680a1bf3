#include "commands/launch_end.hpp"

#include <muster/show.hpp>

#include "report/failure.hpp"
#include "report/json_report.hpp"
#include "report/report_file.hpp"
#include "screen/screen.hpp"

#include <fmt/core.h>

#include <csignal>
#include <unistd.h>

namespace muster::launcher {
namespace {

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

/// The command line for the report, which others read than who typed it: "--env API_KEY=x" keeps
/// its x to itself.
std::vector<std::string> without_secrets(std::vector<std::string> words) {
  constexpr std::string_view of_names =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_";
  for (auto& word : words) {
    // Also within a word: "-x=API_KEY=y", "A=1,MY_TOKEN=2".
    for (auto equals = word.find('='); equals != word.npos; equals = word.find('=', equals + 1)) {
      const auto before = equals == 0 ? word.npos : word.find_last_not_of(of_names, equals - 1);
      const auto start = before == word.npos ? 0 : before + 1;
      if (!is_secret_name(word.substr(start, equals - start))) continue;
      word.replace(equals + 1, word.npos, "(hidden)");
      break;
    }
  }
  words.insert(words.begin(), "muster");
  return words;
}

}  // namespace

void tell_end(const CommandLine& line, const Environment& environment, const Resolution& resolution,
              const Plan& plan, const Outcome& outcome) {
  const bool quiet = line.has("--quiet");
  const auto screen = Screen::of(STDERR_FILENO, environment);
  print_error(failure_text(outcome, plan, screen, quiet));
  // A job that failed may have failed before its runtime could say that it is there.
  const bool unused = outcome.kind == OutcomeKind::ok && !outcome.ready_seen;
  const auto& level = resolution.settings().log.level;
  const bool warns = !quiet && level != "error" && level != "off";
  if (unused && warns) tell_unused(resolution, environment);
  const auto path = line.value("--report");
  if (!path) return;
  try {
    write_report(*path, json_report(outcome, plan, without_secrets(line.typed)));
  } catch (const Error& error) {
    complain(error.what(), environment);  // How the job ended stays the exit code.
  }
}

void report_error(const CommandLine& line, const Error& error) {
  const auto path = line.value("--report");
  if (!path) return;
  Outcome outcome;
  const bool usage = error.exit_code() == ExitCode::usage;
  outcome.kind = usage ? OutcomeKind::usage : OutcomeKind::not_started;
  outcome.exit_code = static_cast<int>(error.exit_code());
  outcome.message = error.what();
  try {
    write_report(*path, json_report(outcome, {}, without_secrets(line.typed)));
  } catch (const Error&) {
    // The first error is the one to tell.
  }
}

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

}  // namespace muster::launcher
