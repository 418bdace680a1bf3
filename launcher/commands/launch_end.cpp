#include "commands/launch_end.hpp"

#include <muster/show.hpp>

#include "report/failure.hpp"
#include "report/json_report.hpp"
#include "screen/screen.hpp"

#include <fmt/core.h>

#include <csignal>
#include <optional>
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

/// A report is read by others than who typed the command: "--env API_KEY=x" keeps its x to itself.
std::vector<std::string> without_secrets(std::vector<std::string> words) {
  for (auto& word : words) {
    const auto name_at = word.starts_with("--env=") ? word.find('=') + 1 : 0;
    const auto equals = word.find('=', name_at);
    if (equals == word.npos) continue;
    if (is_secret_name(word.substr(name_at, equals - name_at)))
      word.replace(equals + 1, word.npos, "(hidden)");
  }
  return words;
}

/// Where the words say that the report goes, though they could not be read to the end.
std::optional<std::string> report_path(const CommandLine& so_far, Words words) {
  constexpr std::string_view flag = "--report";
  if (auto path = so_far.value(flag)) return path;
  for (std::size_t at = 0; at < words.size() && words[at] != "--"; ++at) {
    const auto word = look_up(words[at], launch_flags());
    if (word.name != flag) continue;
    if (word.value) return word.value;
    if (at + 1 < words.size()) return words[at + 1];
  }
  return std::nullopt;
}

}  // namespace

void tell_end(const Launch& launch, const Resolution& resolution, const Plan& plan,
              Outcome outcome) {
  add_error_files(outcome, plan);
  const auto screen = Screen::of(STDERR_FILENO, launch.environment);
  print_error(failure_text(outcome, plan, screen, launch.quiet()));
  // A job that failed may have failed before its runtime could say that it is there.
  const bool unused = outcome.kind == OutcomeKind::ok && !outcome.ready_seen;
  if (unused && !launch.quiet()) tell_unused(resolution, launch.environment);
  const auto path = launch.line.value("--report");
  if (!path) return;
  try {
    write_report(*path, json_report(outcome, plan, without_secrets(launch.command_line)));
  } catch (const Error& error) {
    complain(error.what(), launch.environment);  // How the job ended stays the exit code.
  }
}

void report_error(const Launch& launch, Words words, const Error& error) {
  const auto path = report_path(launch.line, words);
  if (!path) return;
  Outcome outcome;
  const bool usage = error.exit_code() == ExitCode::usage;
  outcome.kind = usage ? OutcomeKind::usage : OutcomeKind::not_started;
  outcome.exit_code = static_cast<int>(error.exit_code());
  outcome.message = error.what();
  try {
    write_report(*path, json_report(outcome, {}, without_secrets(launch.command_line)));
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
