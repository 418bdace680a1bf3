#include <muster/error.hpp>

#include "commands/commands.hpp"
#include "completion/complete.hpp"
#include "completion/scripts.hpp"
#include "screen/screen.hpp"

namespace muster::launcher {
namespace {

/// A word a line, with a tab before its explanation, and what else may follow.
std::string as_lines(const Completion& completion) {
  std::string text;
  for (const auto& [word, help] : completion.words) {
    text += word + (help.empty() ? "" : "\t" + help) + "\n";
  }
  if (completion.programs) text += ":programs\n";
  if (completion.files) text += ":files\n";
  if (completion.folders) text += ":folders\n";
  return text;
}

}  // namespace

int completion(const CommandLine& line, const Environment&) {
  if (line.has("--words")) {
    print_out(as_lines(complete(line.operands)));
    return 0;
  }
  if (line.operands.size() != 1) {
    throw ConfigError("muster completion needs the name of a shell: bash, zsh or fish");
  }
  print_out(completion_script(line.operands.front()));
  return 0;
}

}  // namespace muster::launcher
