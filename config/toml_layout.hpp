#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster {

using TomlPath = std::vector<std::string>;

bool starts_with(const TomlPath& path, const TomlPath& prefix);

/// `[launch]`, `[[jobs]]`
struct TomlHeader {
  TomlPath path;
  std::size_t begin = 0, end = 0;  ///< Its line, with the newline.
  bool array = false;              ///< `[[...]]`, or a table below one.
};

/// `key = value`, in a line of its own or in an inline table.
struct TomlEntry {
  TomlPath path;                      ///< From the root: that of what it stands in, and its key's.
  std::size_t base = 0;               ///< How many parts of `path` its key did not write.
  std::size_t begin = 0;              ///< The key's first byte.
  std::size_t value = 0;              ///< The value's first byte.
  std::size_t end = 0;                ///< Behind the value.
  bool inline_table = false;          ///< The value is `{...}`; its entries are listed too.
  std::optional<std::size_t> inside;  ///< The entry whose inline table it stands in.
  std::optional<std::size_t> header;  ///< The header it stands below.
  bool in_array = false;              ///< Somewhere below `[[...]]`: the path is not only its.
};

/// Where the parts of a text are, as offsets into it. Entries inside arrays are not listed.
struct TomlLayout {
  std::vector<TomlHeader> headers;  ///< In the text's order, like the entries.
  std::vector<TomlEntry> entries;
};

/// `text` must be TOML that toml++ accepts; what it would refuse may throw Error.
TomlLayout layout_of(std::string_view text);

}  // namespace muster
