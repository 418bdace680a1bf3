#include <muster/contract.hpp>
#include <muster/named_log.hpp>
#include <muster/write_all.hpp>

#include "text.hpp"

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <string>
#include <unistd.h>

namespace muster {
namespace {

constexpr std::array<std::string_view, 5> names{"debug", "info", "warning", "error", "off"};

LogLevel level_from_environment() noexcept {
  const char* const text = std::getenv("MUSTER_LOG_LEVEL");
  for (std::size_t i = 0; text && i < names.size(); ++i) {
    if (names[i] == text) return static_cast<LogLevel>(i);
  }
  return LogLevel::info;  // A wrong word is reported by who resolves the settings.
}

std::atomic<LogLevel>& current_level() noexcept {
  static std::atomic<LogLevel> level{level_from_environment()};
  return level;
}

std::atomic<int> named_rank{-1};

bool launcher_prefixes() noexcept {
  static const char* const text = std::getenv(contract::prefixed.data());
  return text && std::string_view(text) == "1";
}

/// Each line is marked with the rank, the first also with the program's name.
std::string format(std::string_view message, std::string_view name, int rank) {
  const std::string mark = rank < 0 || launcher_prefixes() ? "" : "[" + std::to_string(rank) + "] ";
  while (message.ends_with('\n')) message.remove_suffix(1);
  std::string text = mark + std::string(name) + ": ";
  for (const char letter : message) {
    text += letter;
    if (letter == '\n') text += mark;
  }
  return text + '\n';
}

}  // namespace

void configure_log(LogLevel level, int rank) {
  current_level() = level;
  named_rank = rank;
}

LogLevel log_level() noexcept { return current_level(); }

void log(LogLevel level, std::string_view message) noexcept { log_as("muster", level, message); }

void log_as(std::string_view name, LogLevel level, std::string_view message) noexcept {
  if (level < log_level() || level == LogLevel::off) return;
  const int saved = errno;
  try {
    // Nobody can be told that nobody can be told.
    write_all(STDERR_FILENO, format(message, name, named_rank));
  } catch (...) {
    write_all(STDERR_FILENO, "muster: out of memory\n");
  }
  errno = saved;
}

}  // namespace muster
