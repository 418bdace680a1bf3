#pragma once

#include <string>

namespace muster::test {

struct CommandEnd {
  int status;  ///< As of waitpid(); 0: it went well.
  std::string text;
};

/// Runs a shell's command to its end. text: what it wrote to stdout.
CommandEnd run_command(const std::string& command);

/// The same of one that has to go well.
std::string output_of(const std::string& command);

/// The folder of a package of Python, `words` being its name, version and what it needs (see
/// support/python_package). Skips the test where it cannot be had.
std::string python_package(const std::string& words);

}  // namespace muster::test
