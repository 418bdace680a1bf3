#include "import/import.hpp"

#include <muster/error.hpp>

#include "fuzz/fuzz.hpp"

#include <algorithm>
#include <optional>

using muster::launcher::ImportKind;

namespace {

void require_lines(std::string_view text) {
  const bool plain = std::none_of(text.begin(), text.end(), [](char letter) {
    return static_cast<unsigned char>(letter) < ' ' && letter != '\n';
  });
  muster::fuzz::require(plain, "a message holds nothing that a terminal obeys");
}

}  // namespace

/// Another launcher's file; the first byte says of which kind it is taken to be.
int muster::fuzz::try_input(std::string_view input) {
  if (input.empty()) return 1;
  constexpr std::optional<ImportKind> kinds[] = {std::nullopt, ImportKind::accelerate,
                                                 ImportKind::deepspeed, ImportKind::hostfile};
  const auto kind = kinds[static_cast<unsigned char>(input[0]) % 4];
  try {
    const auto import = launcher::import_text(input.substr(1), "f", kind, "node-a");
    for (const auto& [setting, value] : import.settings) check_value(*setting, value);
    for (const auto& note : import.notes) {
      require(note.starts_with("f:"), "a note has its line");
      require(note.find('\n') == note.npos, "a note is one line");
      require_lines(note);
    }
  } catch (const ConfigError& error) {
    require_lines(error.what());
    return 1;
  }
  return 0;
}
