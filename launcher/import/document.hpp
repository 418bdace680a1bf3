#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster::launcher {

struct Member;

/// A part of a YAML or JSON file, with the line that it is on.
struct DocumentNode {
  enum class Kind { word, text, list, map };
  Kind kind = Kind::word;
  std::string text;  ///< word: a number, true, null or the like, as written; text: what was quoted.
  std::vector<DocumentNode> items;  ///< Of a list.
  std::vector<Member> members;      ///< Of a map; no name is there twice.
  int line = 0;

  /// Nothing was said: null, ~, an empty list or map.
  bool is_empty() const;
  /// true and false, also as YAML 1.1 writes them (yes, off), also in quotes.
  std::optional<bool> as_bool() const;
  bool is_auto() const { return text == "auto" && (kind == Kind::word || kind == Kind::text); }
  /// On one line, for messages.
  std::string shown() const;
  const DocumentNode* find(std::string_view name) const;  ///< Of a map; null if it has none.
};

/// A name of a map, and what it stands for.
struct Member {
  std::string name;
  DocumentNode value;
};

/// What a text means. JSON may have comments. Of a name that a map has twice the last counts.
/// `name` is what messages call the file. Throws ConfigError ("job.yaml:3: ...") for what is
/// neither, and for what is nested or repeated beyond all use.
DocumentNode parse_yaml(std::string_view text, const std::string& name);
DocumentNode parse_json(std::string_view text, const std::string& name);

}  // namespace muster::launcher
