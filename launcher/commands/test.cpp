#include "check/check_program.hpp"
#include "check/findings.hpp"
#include "check/findings_text.hpp"
#include "commands/commands.hpp"
#include "commands/launch_end.hpp"
#include "commands/launch_start.hpp"
#include "commands/sources.hpp"
#include "report/json_report.hpp"
#include "screen/screen.hpp"

#include <string>
#include <unistd.h>

namespace muster::launcher {
namespace {

/// On a machine that is new, half an hour for one communication is no answer.
constexpr double comm_timeout_s = 60;

constexpr int faults_found = 1;

Resolution settings_of(const CommandLine& line, const Environment& environment) {
  auto sources = sources_of(line, environment);
  sources.discovered.push_back({"launch.comm_timeout", Value(comm_timeout_s), "muster test"});
  return resolve(sources);
}

void tell(const CommandLine& line, const Environment& environment, const JobEnd& end,
          const Findings& findings) {
  const auto& outcome = end.outcome;
  print_out(line.has("--json")
                ? findings_json(findings, end.plan, outcome.seconds, to_text(outcome.kind))
                : findings_text(findings, end.plan, outcome.seconds,
                                Screen::of(STDOUT_FILENO, environment)));
}

/// The system's loader says on stderr what it misses, and exits with this.
bool misses_libraries(const Outcome& outcome, const Findings& findings) {
  return findings.rows.empty() && outcome.first && outcome.first->exit_code == 127;
}

}  // namespace

int test(const CommandLine& line, const Environment& environment) {
  auto of_ranks = line;
  of_ranks.program = {check_program()};
  auto environment_of_ranks = environment;
  add_libtorch(environment_of_ranks);
  const auto resolution = settings_of(line, environment);

  Findings findings;
  const auto collect = [&findings](const Plan& plan) {
    findings = read_findings(plan);
    compare_with_plan(plan, findings);
  };
  const auto end = start_job(of_ranks, resolution, environment_of_ranks, collect);
  tell(line, environment, end, findings);
  tell_end(line, environment, resolution, end.plan, end.outcome);
  for (const auto& text : checks_under_way(findings)) complain(text, environment);
  if (misses_libraries(end.outcome, findings)) {
    complain(
        "if LibTorch is no longer where it was when muster was built, MUSTER_LIBTORCH=DIR names it",
        environment);
  }
  if (end.outcome.kind != OutcomeKind::ok) return exit_code_of(end.outcome);
  return findings.all_ok() ? 0 : faults_found;
}

}  // namespace muster::launcher
