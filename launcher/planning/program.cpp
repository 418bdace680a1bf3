#include "planning/program.hpp"

namespace muster::launcher {

std::vector<std::string> program_argv(const std::vector<std::string>& words, bool module,
                                      const Environment& environment) {
  const bool python = module || (!words.empty() && words.front().ends_with(".py"));
  if (!python) return words;
  const auto chosen = environment.find("PYTHON_EXEC");
  const bool has_choice = chosen != environment.end() && !chosen->second.empty();
  std::vector<std::string> argv{has_choice ? chosen->second : "python3", "-u"};
  if (module) argv.emplace_back("-m");
  argv.insert(argv.end(), words.begin(), words.end());
  return argv;
}

}  // namespace muster::launcher
