#pragma once

#include "toml_layout.hpp"

#include <string>
#include <string_view>

namespace muster {

/// A TOML text of which single values are changed: comments, order, form and all that is not named
/// stay as they are.
class TomlText {
 public:
  /// `text` must be TOML that toml++ accepts.
  explicit TomlText(std::string text) : text_(std::move(text)) {}

  const std::string& text() const noexcept { return text_; }

  /// `value` is TOML. What is new is put behind its neighbours, in the form that they have: below a
  /// header, with dots or in an inline table; without neighbours, at the end below a header of its
  /// own. `path` has two parts at least. Throws ConfigError (":3: ...") if what stands there cannot
  /// hold it.
  void set(const TomlPath& path, std::string_view value);
  /// Takes out the value, or the table with all that is in it, and its line with it. False if there
  /// is none.
  bool unset(const TomlPath& path);

 private:
  void insert(const TomlPath& path, std::string_view value);
  bool insert_into_inline(const TomlLayout& layout, const TomlPath& path, std::string_view value);
  bool insert_below_header(const TomlLayout& layout, const TomlPath& path, std::string_view value);
  bool insert_with_dots(const TomlLayout& layout, const TomlPath& path, std::string_view value);
  /// A new line behind the one that ends at or behind `offset`, indented like the one at `like`.
  void insert_line(std::size_t offset, std::size_t like, const std::string& line);
  void append_section(const TomlPath& path, std::string_view value);
  void erase(const TomlLayout& layout, std::size_t index);
  std::size_t line_begin(std::size_t offset) const;
  std::size_t line_end(std::size_t offset) const;  ///< Behind the newline.
  std::string newline() const;

  std::string text_;
};

/// As a key of a TOML file: bare if it can be, else quoted.
std::string toml_key(std::string_view key);

}  // namespace muster
