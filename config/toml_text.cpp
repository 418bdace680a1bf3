#include "toml_text.hpp"

#include <muster/error.hpp>
#include <muster/value.hpp>

#include <algorithm>

namespace muster {
namespace {

TomlPath parent_of(TomlPath path) {
  path.pop_back();
  return path;
}

/// The path's parts from the `base`th on, as a key.
std::string dotted(const TomlPath& path, std::size_t base) {
  std::string text;
  for (auto i = base; i < path.size(); ++i) text += (i > base ? "." : "") + toml_key(path[i]);
  return text;
}

[[noreturn]] void refuse(std::string_view text, std::size_t offset, const std::string& what) {
  const auto lines =
      std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(offset), '\n');
  throw ConfigError(":" + std::to_string(lines + 1) + ": " + what);
}

/// What stands where tables would have to be.
void check_room(const TomlLayout& layout, const TomlPath& path, std::string_view text) {
  for (const auto& entry : layout.entries) {
    const bool above = entry.path.size() < path.size() && starts_with(path, entry.path);
    if (above && !entry.inline_table && !entry.in_array) {
      refuse(text, entry.begin, "'" + dotted(entry.path, 0) + "' has a value and cannot have keys");
    }
  }
  for (const auto& header : layout.headers) {
    if (header.array && starts_with(path, header.path)) {
      refuse(text, header.begin, "'" + dotted(header.path, 0) + "' is a list of tables");
    }
  }
}

}  // namespace

std::string toml_key(std::string_view key) {
  const bool bare = !key.empty() && std::all_of(key.begin(), key.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
  });
  return bare ? std::string(key) : toml_string(key);
}

void TomlText::set(const TomlPath& path, std::string_view value) {
  const auto layout = layout_of(text_);
  check_room(layout, path, text_);
  const auto same =
      std::find_if(layout.entries.begin(), layout.entries.end(),
                   [&](const TomlEntry& entry) { return entry.path == path && !entry.in_array; });
  if (same != layout.entries.end()) {
    text_.replace(same->value, same->end - same->value, value);
    return;
  }
  unset(path);  // A table of that name.
  insert(path, value);
}

bool TomlText::unset(const TomlPath& path) {
  bool found = false;
  while (true) {
    const auto layout = layout_of(text_);
    const auto entry =
        std::find_if(layout.entries.begin(), layout.entries.end(),
                     [&](const TomlEntry& one) { return starts_with(one.path, path); });
    const auto header =
        std::find_if(layout.headers.begin(), layout.headers.end(),
                     [&](const TomlHeader& one) { return starts_with(one.path, path); });
    if (entry != layout.entries.end()) {
      erase(layout, static_cast<std::size_t>(entry - layout.entries.begin()));
    } else if (header != layout.headers.end()) {
      text_.erase(header->begin, header->end - header->begin);
    } else {
      return found;
    }
    found = true;
  }
}

void TomlText::erase(const TomlLayout& layout, std::size_t index) {
  const auto& entry = layout.entries[index];
  if (!entry.inside) {
    const auto begin = line_begin(entry.begin);
    text_.erase(begin, line_end(entry.end) - begin);
    return;
  }
  const TomlEntry *before = nullptr, *after = nullptr;
  for (const auto& other : layout.entries) {
    if (other.inside != entry.inside) continue;
    if (other.begin < entry.begin) before = &other;
    if (other.begin > entry.begin && after == nullptr) after = &other;
  }
  if (before != nullptr) {
    text_.erase(before->end, entry.end - before->end);
  } else {
    text_.erase(entry.begin, (after != nullptr ? after->begin : entry.end) - entry.begin);
  }
}

void TomlText::insert(const TomlPath& path, std::string_view value) {
  const auto layout = layout_of(text_);
  if (insert_into_inline(layout, path, value) || insert_below_header(layout, path, value) ||
      insert_with_dots(layout, path, value)) {
    return;
  }
  if (path.size() > 2) {
    insert(parent_of(path), "{ " + toml_key(path.back()) + " = " + std::string(value) + " }");
  } else {
    append_section(path, value);
  }
}

bool TomlText::insert_into_inline(const TomlLayout& layout, const TomlPath& path,
                                  std::string_view value) {
  const auto parent = parent_of(path);
  for (std::size_t i = 0; i < layout.entries.size(); ++i) {
    const auto& table = layout.entries[i];
    if (!table.inline_table || table.in_array || table.path != parent) continue;
    const std::string item = toml_key(path.back()) + " = " + std::string(value);
    std::size_t last = 0;
    for (const auto& entry : layout.entries) {
      if (entry.inside == i) last = std::max(last, entry.end);
    }
    if (last > 0) {
      text_.insert(last, ", " + item);
    } else {
      text_.replace(table.value, table.end - table.value, "{ " + item + " }");
    }
    return true;
  }
  return false;
}

bool TomlText::insert_below_header(const TomlLayout& layout, const TomlPath& path,
                                   std::string_view value) {
  const auto parent = parent_of(path);
  for (std::size_t i = 0; i < layout.headers.size(); ++i) {
    const auto& header = layout.headers[i];
    if (header.array || header.path != parent) continue;
    auto behind = header.begin, like = header.begin;
    for (const auto& entry : layout.entries) {
      if (entry.header != i || entry.inside) continue;
      behind = entry.end;
      like = entry.begin;
    }
    insert_line(behind, like, toml_key(path.back()) + " = " + std::string(value));
    return true;
  }
  return false;
}

bool TomlText::insert_with_dots(const TomlLayout& layout, const TomlPath& path,
                                std::string_view value) {
  const auto parent = parent_of(path);
  const TomlEntry* last = nullptr;
  for (const auto& entry : layout.entries) {
    const bool below = entry.path.size() > parent.size() && starts_with(entry.path, parent);
    if (below && entry.base < parent.size() && !entry.in_array) last = &entry;
  }
  if (last == nullptr) return false;
  const std::string item = dotted(path, last->base) + " = " + std::string(value);
  if (last->inside) {
    text_.insert(last->end, ", " + item);
  } else {
    insert_line(last->end, last->begin, item);
  }
  return true;
}

void TomlText::append_section(const TomlPath& path, std::string_view value) {
  const auto end = newline();
  if (!text_.empty() && !text_.ends_with('\n')) text_ += end;
  if (!text_.empty()) text_ += end;
  text_ += "[" + toml_key(path.front()) + "]" + end + toml_key(path.back()) + " = ";
  text_.append(value).append(end);
}

void TomlText::insert_line(std::size_t offset, std::size_t like, const std::string& line) {
  const auto begin = line_begin(like);
  const auto text = std::min(text_.find_first_not_of(" \t", begin), text_.size());
  const auto indent = text_.substr(begin, text - begin);
  const auto end = line_end(offset);
  const bool closed = end > 0 && text_[end - 1] == '\n';
  text_.insert(end, (closed ? "" : newline()) + indent + line + newline());
}

std::size_t TomlText::line_begin(std::size_t offset) const {
  const auto end = offset == 0 ? text_.npos : text_.rfind('\n', offset - 1);
  return end == text_.npos ? 0 : end + 1;
}

std::size_t TomlText::line_end(std::size_t offset) const {
  const auto end = text_.find('\n', offset);
  return end == text_.npos ? text_.size() : end + 1;
}

std::string TomlText::newline() const {
  const auto first = text_.find('\n');
  return first != text_.npos && first > 0 && text_[first - 1] == '\r' ? "\r\n" : "\n";
}

}  // namespace muster
