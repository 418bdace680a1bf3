#pragma once

#include "import/carrier.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace muster::launcher {

/// The words for kinds of files: accelerate, deepspeed, hostfile.
enum class ImportKind { accelerate, deepspeed, hostfile };
/// Throws ConfigError for another word.
ImportKind import_kind(std::string_view word);

/// Takes over a foreign file. Without a kind the text tells what it is: accelerate's YAML or JSON,
/// whatever its name, DeepSpeed's JSON, or a hostfile. `file` is what messages call it, `here` this
/// host's name. Throws ConfigError for what cannot be read, or is none of these.
Import import_text(std::string_view text, const std::string& file, std::optional<ImportKind> kind,
                   std::string_view here);

/// The text of a file of the user's. Never blocks. Throws ConfigError for what is no regular file,
/// cannot be read, is larger than 1 MiB, or is not text.
std::string read_foreign_file(const std::string& path);

}  // namespace muster::launcher
