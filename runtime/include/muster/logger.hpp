#pragma once

#include <muster/log.hpp>
#include <muster/ranks.hpp>

#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace muster {

/// Who writes a message.
enum class LoggedBy {
  main,        ///< Rank 0.
  local_main,  ///< The first rank of each host.
  all,         ///< Every rank, each when it comes to it.
  in_order,    ///< Rank 0 for all ranks, in rank order: collective.
};

/// Writes a program's own messages to stderr, `name: message`, with the rank before it if there are
/// several. `log.level` (MUSTER_LOG_LEVEL, --log-level) decides what is written. Unless a message
/// is in_order any ranks may call.
class Logger {
 public:
  Logger(std::string name, const Ranks& ranks) : name_(std::move(name)), ranks_(ranks) {}

  void log(LogLevel level, std::string_view message, LoggedBy by = LoggedBy::main) const;
  void debug(std::string_view message, LoggedBy by = LoggedBy::main) const {
    log(LogLevel::debug, message, by);
  }
  void info(std::string_view message, LoggedBy by = LoggedBy::main) const {
    log(LogLevel::info, message, by);
  }
  void warning(std::string_view message, LoggedBy by = LoggedBy::main) const {
    log(LogLevel::warning, message, by);
  }
  void error(std::string_view message, LoggedBy by = LoggedBy::main) const {
    log(LogLevel::error, message, by);
  }
  /// Nothing if this message was given before.
  void warning_once(std::string_view message, LoggedBy by = LoggedBy::main);

 private:
  std::string name_;
  Ranks ranks_;
  std::set<std::string, std::less<>> told_;
};

inline Logger get_logger(std::string name, const Ranks& ranks) { return {std::move(name), ranks}; }

}  // namespace muster
