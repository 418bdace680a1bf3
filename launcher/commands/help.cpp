#include <muster/show.hpp>

#include "commands/commands.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace muster::launcher {
namespace {

constexpr int narrowest = 60;
constexpr int widest = 120;  // Longer lines are hard to read.

std::string line_of(const Command& command) {
  return fmt::format("  {:<15}{}\n", command.name, command.help);
}

/// The commands whose names begin with this one's.
std::string parts_of(const Command& whole) {
  std::string text;
  for (const auto& command : commands()) {
    if (command.name.starts_with(std::string(whole.name) + " ")) text += line_of(command);
  }
  return text;
}

std::string overview() {
  std::string text = "usage: muster COMMAND [OPTIONS]\n\n";
  for (const auto& command : commands()) text += line_of(command);
  return text +
         "\nmuster COMMAND --help lists a command's options. Start a program on all devices\n"
         "of this machine, or as two ranks on the CPU:\n\n"
         "  muster launch -- ./train\n"
         "  muster launch -n 2 --devices cpu -- ./train --epochs 3\n";
}

constexpr std::string_view launch_notes =
    "Everything after the program's name, or after --, is the program's. A program\n"
    "that ends in .py runs as ${PYTHON_EXEC:-python3} -u. Settings are also read from\n"
    "./muster.toml, from --config FILE, and from variables such as\n"
    "MUSTER_LAUNCH_NUM_PROCESSES. Flags of torchrun, accelerate and deepspeed that\n"
    "mean the same are understood.\n\n"
    "exit code  0 if no rank failed, else that of the first that did, or 128 + its\n"
    "           signal; 2 wrong usage, nothing was started; 124 a deadline passed;\n"
    "           125 muster itself failed; 126 the program cannot be executed;\n"
    "           127 it was not found\n";

/// The command's own flags; with `settings`, those of the settings too.
std::string flags_text(std::span<const CommandFlag> flags, std::size_t width, bool settings) {
  auto text = help_text(flags, width);
  if (settings) return text;
  // Only the command's own flags come before the first section.
  const auto end = text.find("\n[");
  if (end != text.npos) text.resize(end);
  return text;
}

}  // namespace

std::string help_of(std::string_view name, int width) {
  if (name.empty()) return overview();
  const auto* command = find_command(name);
  if (command == nullptr) return "";
  const auto columns = static_cast<std::size_t>(std::clamp(width, narrowest, widest));
  const bool lists_settings = command->settings && command->program;
  auto text = fmt::format("usage: muster {}\n\n{}\n\n{}", command->usage, command->help,
                          flags_text(command->own, columns, lists_settings));
  if (const auto parts = parts_of(*command); !parts.empty()) text += "\n" + parts;
  if (lists_settings) return text + "\n" + std::string(launch_notes);
  if (!command->settings) return text;
  return text + "\nand the settings' options of muster launch.\n";
}

}  // namespace muster::launcher
