#pragma once

#include <muster/error.hpp>
#include <muster/resolve.hpp>

#include "arguments/command_line.hpp"
#include "commands/commands.hpp"
#include "plan.hpp"
#include "supervise.hpp"

#include <string>
#include <vector>

namespace muster::launcher {

/// What one launch needs at hand in all its stages.
struct Launch {
  CommandLine line;
  const Environment& environment;
  std::vector<std::string> command_line;

  bool quiet() const { return line.has("--quiet"); }
  bool verbose() const { return line.has("--verbose"); }
};

/// Prints the failure, if there is one, and what had no effect, and writes the report.
void tell_end(const Launch& launch, const Resolution& resolution, const Plan& plan,
              Outcome outcome);

/// Wrong usage, and what kept muster from starting the job, are reported too. `words` are those
/// after `launch`, of which `launch` may hold a part only.
void report_error(const Launch& launch, Words words, const Error& error);

/// The launcher's exit code. After a terminal's Ctrl-C it does not return: a shell stops a loop
/// only if the program in it died of the signal too.
int exit_code_of(const Outcome& outcome);

}  // namespace muster::launcher
