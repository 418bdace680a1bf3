#include <muster/error.hpp>
#include <muster/resolve.hpp>

#include "arguments/setting_key.hpp"
#include "commands/commands.hpp"
#include "fuzz/fuzz.hpp"

/// A word of the command line a line: as options of each command, with what they mean.
int muster::fuzz::try_input(std::string_view input) {
  const auto words = words_of(input);
  int refused = 1;
  for (const auto& command : launcher::commands()) {
    launcher::CommandLine line;
    launcher::split_words(words, command, line);
    Sources sources;
    sources.flags = line.settings;
    sources.no_config = true;
    try {
      const auto resolution = resolve(sources);
      for (const auto& entry : resolution.entries()) {
        if (entry.origin.kind != Origin::Kind::built_in) check_value(*entry.setting, entry.value);
      }
      if (!line.settings.empty()) refused = 0;
    } catch (const ConfigError&) {
    }
  }
  for (const auto& word : words) {
    try {
      const auto [setting, value] = launcher::parse_assignment(word);
      check_value(*setting, value);
      refused = 0;
    } catch (const ConfigError&) {
    }
  }
  return refused;
}
