#pragma once

#include <stdexcept>
#include <string>

namespace muster {

/// Exit codes of the launcher that are not a rank's own.
enum class ExitCode : int {
  success = 0,
  usage = 2,        ///< Wrong usage or settings; nothing was started.
  timed_out = 124,  ///< A deadline passed.
  internal = 125,   ///< muster itself failed: fork, guardian or node lost.
  not_executable = 126,
  not_found = 127,
};

/// Whether an exit code says that what was asked for cannot run at all: it would not the next time.
constexpr bool is_of_wrong_usage(int exit_code) noexcept {
  return exit_code == static_cast<int>(ExitCode::usage) ||
         exit_code == static_cast<int>(ExitCode::not_executable) ||
         exit_code == static_cast<int>(ExitCode::not_found);
}

/// Base of everything that muster throws. what() says what was asked, what was found and what
/// would work, in one or a few lines without a trailing newline.
class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& message, ExitCode code = ExitCode::internal)
      : std::runtime_error(message), code_(code) {}

  ExitCode exit_code() const noexcept { return code_; }

 private:
  ExitCode code_;
};

/// A flag, variable, file or option in code is wrong. Nothing was started or changed.
/// what() may hold several faults, one a line.
class ConfigError : public Error {
 public:
  explicit ConfigError(const std::string& message) : Error(message, ExitCode::usage) {}
};

/// This build, device or backend cannot do what was asked; another choice can.
class UnsupportedError : public Error {
 public:
  using Error::Error;
};

/// A peer was lost, a deadline passed or the group was aborted. The group cannot be used any more;
/// a new one can be made.
class CommunicationError : public Error {
 public:
  using Error::Error;
};

/// Model, optimizer or data differ between ranks, or changed in a way that training cannot follow.
class ModelError : public Error {
 public:
  using Error::Error;
};

/// A file of weights or state is missing, short, corrupt or of another kind. Nothing was changed.
class CheckpointError : public Error {
 public:
  using Error::Error;
};

}  // namespace muster
