#pragma once

#include <muster/error.hpp>
#include <muster/resolve.hpp>
#include <muster/world.hpp>

#include "arguments/command_line.hpp"
#include "plan.hpp"
#include "supervise.hpp"

namespace muster::launcher {

/// Prints the failure, if there is one, and what had no effect, and writes the report.
void tell_end(const CommandLine& line, const Environment& environment, const Resolution& resolution,
              const Plan& plan, const Outcome& outcome);

/// Wrong usage, and what kept muster from starting the job, are reported too.
void report_error(const CommandLine& line, const Error& error);

/// The launcher's exit code. After a terminal's Ctrl-C it does not return: a shell stops a loop
/// only if the program in it died of the signal too.
int exit_code_of(const Outcome& outcome);

}  // namespace muster::launcher
