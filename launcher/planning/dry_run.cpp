#include "planning/dry_run.hpp"

#include <algorithm>
#include <cctype>

namespace muster::launcher {

std::string shell_quoted(std::string_view word) {
  constexpr std::string_view plain = "-_./=:,+@%^";
  const bool safe = !word.empty() && std::all_of(word.begin(), word.end(), [&](char letter) {
    const bool beyond_ascii = static_cast<unsigned char>(letter) > 127;
    return beyond_ascii || std::isalnum(static_cast<unsigned char>(letter)) != 0 ||
           plain.find(letter) != plain.npos;
  });
  if (safe) return std::string(word);
  std::string text = "'";
  for (const char letter : word)
    text += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
  return text + "'";
}

bool is_decided_at_start(const ProcessSpec& spec, const std::string& name) {
  if (name == "MASTER_PORT") return spec.world.master_port == 0;
  return name == "TORCHELASTIC_RUN_ID" || name == "TORCHELASTIC_ERROR_FILE";
}

std::vector<std::string> removed_variables(const ProcessSpec& spec,
                                           const Environment& environment) {
  std::vector<std::string> removed;
  for (const auto& name : spec.unset) {
    const bool twice = std::find(removed.begin(), removed.end(), name) != removed.end();
    if (!twice && environment.contains(name) && !spec.set.contains(name)) removed.push_back(name);
  }
  return removed;
}

const std::vector<int>& cpus_of(const ProcessSpec& spec, const Cpus& cpus) {
  return spec.cpus.empty() ? cpus.allowed : spec.cpus;
}

}  // namespace muster::launcher
