#include "supervise.hpp"

#include "rendezvous/node_link.hpp"
#include "supervise/descriptors.hpp"
#include "supervise/executable.hpp"
#include "supervise/init_process.hpp"
#include "supervise/supervisor.hpp"

#include <cstdio>

namespace muster::launcher {
namespace {

/// The executables of all ranks; `fault` says why there is none.
std::vector<std::string> find_programs(const Plan& plan, StartFault& fault) {
  std::vector<std::string> programs;
  for (const ProcessSpec& spec : plan.ranks) {
    const std::string& name = spec.argv.front();
    const FoundExecutable found = find_executable(name, variable_of(spec, "PATH"));
    if (found.error != 0) {
      fault = describe_start_fault(name, found.path, StartStage::exec, found.error);
      break;
    }
    programs.push_back(found.path);
  }
  return programs;
}

std::string in_seconds(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%g s", value);
  return text;
}

}  // namespace

Outcome supervise(const Plan& plan, const LaunchSettings& settings, ReservedPort port,
                  const JobContext& context) {
  keep_off_standard(port.socket);
  keep_off_standard(port.name);
  open_standard_descriptors();
  const JobOptions options = job_options(plan, settings, context);
  JobFacts facts;
  const auto programs = find_programs(plan, facts.fault);
  if (facts.fault.exit_code != 0) {
    facts.cause = Cause::not_started;
    if (context.link) context.link->abandon(facts.fault.exit_code, facts.fault.message);
    return outcome_of(facts);
  }
  separate_from_strangers();
  facts = Supervisor(plan, options, programs, port, context.link).run();
  if (settings.timeout) {
    facts.timeout =
        in_seconds(settings.timeout->count()) + " (" + context.names.of("launch.timeout") + ")";
  }
  facts.hang_timeout = context.names.of("launch.hang_timeout");
  return context.link ? context.link->settle(outcome_of(facts)) : outcome_of(facts);
}

}  // namespace muster::launcher
