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

/// "ValueError: no" in "Traceback ...", indented lines, "ValueError: no"; several may be chained.
/// A program may put something of its own before each line: PyTorch "[rank1]: ".
std::string python_text(std::span<const std::string> lines) {
  std::string text, before;
  bool inside = false;
  for (const std::string_view line : lines) {
    if (line.ends_with(traceback)) {
      before = line.substr(0, line.size() - traceback.size());
      inside = true;
    } else if (inside && line.starts_with(before)) {
      const auto rest = line.substr(before.size());
      if (rest.empty() || rest.front() == ' ' || rest.front() == '\t') continue;
      inside = false;
      text = rest;
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
