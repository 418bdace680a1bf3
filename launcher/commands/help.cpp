#include <muster/error.hpp>
#include <muster/show.hpp>
#include <muster/version.hpp>

#include "commands/commands.hpp"
#include "screen/screen.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <unistd.h>

namespace muster::launcher {
namespace {

constexpr int narrowest = 60;
constexpr int widest = 120;  // Longer lines are hard to read.

std::string overview() {
  std::string text = "usage: muster COMMAND [OPTIONS]\n\n";
  for (const auto& command : commands()) {
    text += fmt::format("  {:<14}{}\n", command.name, command.help);
  }
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
  const auto all = commands();
  const auto command =
      std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.name == name; });
  if (command == all.end()) return "";
  const auto columns = static_cast<std::size_t>(std::clamp(width, narrowest, widest));
  auto text = fmt::format("usage: muster {}\n\n{}\n", command->usage, command->help);
  if (name == "launch") {
    text += "\n" + flags_text(launch_flags(), columns, true) + "\n" + std::string(launch_notes);
  } else if (name == "config show") {
    text += "\n" + flags_text(config_show_flags(), columns, false) +
            "\nand the settings' options of muster launch, to see what they would do.\n";
  } else if (name == "env") {
    text += "\n" + flags_text(env_flags(), columns, false);
  }
  return text;
}

int help(Words words, const Environment& environment) {
  std::string name;
  for (const auto& word : words) name += (name.empty() ? "" : " ") + word;
  if (name == "config") name = "config show";
  const auto text = help_of(name, Screen::of(STDOUT_FILENO, environment).width);
  if (text.empty()) throw ConfigError("no command '" + name + "'; muster --help lists them");
  print_out(text);
  return 0;
}

int print_version(Words words, const Environment&) {
  if (!words.empty())
    throw ConfigError("muster version: '" + words.front() + "' is not expected here");
  print_out("muster " + std::string(version) + "\n");
  return 0;
}

}  // namespace muster::launcher
