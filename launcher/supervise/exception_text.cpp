#include "exception_text.hpp"

#include <optional>
#include <string_view>

namespace muster::launcher {
namespace {

constexpr std::string_view what = "  what():  ", traceback = "Traceback (most recent call last):",
                           thrown = "terminate called after throwing an instance of '";

std::string_view after(std::string_view line, std::string_view head) {
  return line.substr(head.size());
}

/// Where `  File "a.py", line 3, in f` begins in a line, or npos. Python's dump of a crash looks
/// much the same, but has no comma after the number.
std::size_t frame_in(std::string_view line) {
  const auto start = line.find("  File \"");
  const auto number = line.find("\", line ", start);
  if (start == line.npos || number == line.npos) return line.npos;
  const auto end = line.find_first_not_of("0123456789", number + 8);
  return end == line.npos || line[end] == ',' ? start : line.npos;
}

/// "torch.OutOfMemoryError: no", "KeyError"
bool names_exception(std::string_view line) {
  const auto type = line.substr(0, line.find(':'));
  return type.find(' ') == type.npos && (type.ends_with("Error") || type.ends_with("Exception"));
}

/// "ValueError: no" in "Traceback ...", indented lines, "ValueError: no"; several may be chained.
/// A program may put something of its own before each line: PyTorch "[rank1]: ". A long one has
/// lost its first lines here, and a SyntaxError has no such first line.
std::string python_text(std::span<const std::string> lines) {
  std::string text, before;
  bool inside = false, headed = false;
  for (const std::string_view line : lines) {
    const auto frame = inside ? line.npos : frame_in(line);
    if (line.ends_with(traceback)) {
      before = line.substr(0, line.size() - traceback.size());
      inside = headed = true;
    } else if (frame != line.npos) {
      before = line.substr(0, frame);
      inside = true;
      headed = false;
    } else if (inside && line.starts_with(before)) {
      const auto rest = line.substr(before.size());
      if (rest.empty() || rest.front() == ' ' || rest.front() == '\t') continue;
      inside = false;
      if (headed || names_exception(rest)) text = rest;
    }
  }
  return text;
}

/// "label 11" of "  what():  label 11", or the type where an exception has no text.
std::string cpp_text(std::span<const std::string> lines) {
  std::string text;
  for (const std::string& line : lines) {
    if (line.starts_with(what)) {
      text = after(line, what);
    } else if (line.starts_with(thrown)) {
      const auto type = after(line, thrown);
      text = type.substr(0, type.find('\''));
    }
  }
  return text;
}

/// Rust: "thread 'main' panicked at src/main.rs:2:5:" and the text below, or all in one line.
std::string panic_text(std::span<const std::string> lines) {
  for (std::size_t at = 0; at < lines.size(); ++at) {
    const std::string_view line = lines[at];
    if (line.starts_with("panic: ")) return std::string(after(line, "panic: "));
    if (line.find("' panicked at ") == std::string_view::npos) continue;
    if (line.ends_with(':') && at + 1 < lines.size()) return lines[at + 1];
    return std::string(line);
  }
  return "";
}

}  // namespace

std::string exception_text(std::span<const std::string> lines) {
  for (const auto& find : {cpp_text, python_text, panic_text})
    if (std::string text = find(lines); !text.empty()) return text;
  return "";
}

}  // namespace muster::launcher
