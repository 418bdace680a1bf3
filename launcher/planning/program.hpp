#pragma once

#include <muster/world.hpp>

#include <string>
#include <vector>

namespace muster::launcher {

/// What a rank executes for the words of the command line: the program itself; a file that ends in
/// .py runs as `${PYTHON_EXEC:-python3} -u FILE`, a module (`-m`) as `… -u -m MODULE`.
std::vector<std::string> program_argv(const std::vector<std::string>& words, bool module,
                                      const Environment& environment);

}  // namespace muster::launcher
