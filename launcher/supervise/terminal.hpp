#pragma once

#include "unique_fd.hpp"

#include <termios.h>
#include <utility>

namespace muster::launcher {

/// A raw pseudo-terminal: `ours` reads what is written to `theirs`.
struct Pty {
  UniqueFd ours, theirs;
};

/// Of the size of the terminal `like`, less `columns` (the prefix's). No controlling terminal of
/// anybody. Throws Error if there is none to be had.
Pty open_pty(int like, int columns);

/// Gives the pty the size that the terminal `like` has now.
void resize_pty(int ours, int like, int columns);

/// Whether `fd` is a terminal that this process may read: not one that it is in the background of.
bool may_read_terminal(int fd);

/// Puts a terminal's modes back as they were found, if a rank changed them and died.
class TerminalModes {
 public:
  /// Does nothing if `fd` is not a terminal that this process may read.
  explicit TerminalModes(int fd);
  TerminalModes(const TerminalModes&) = delete;
  TerminalModes& operator=(const TerminalModes&) = delete;
  ~TerminalModes();

 private:
  int fd_;
  termios modes_{};
  bool known_;  // After modes_, which it fills.
};

}  // namespace muster::launcher
