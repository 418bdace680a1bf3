#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace muster {

struct ProgressOptions {
  bool enabled = true;           ///< Off: nothing is ever written, as on ranks other than 0.
  std::string unit = "samples";  ///< What update() counts.
  int descriptor = 2;            ///< Where it is drawn: the standard error.
};

/// How far a loop is, how fast and how long it will take:
///
///   epoch 1/5  ████████▌            10/23  31.2 k images/s  0:04 left  loss 0.412
///
/// On a terminal one line is drawn anew, at most ten times a second and no wider than the terminal.
/// Elsewhere a state is written about every ten seconds, and the last. Blocks only in a UTF-8
/// locale, colour only without NO_COLOR. Never throws for what it cannot write. One thread.
class Progress {
 public:
  /// `total`: steps in all; 0: unknown.
  Progress(std::string title, std::int64_t total, ProgressOptions options = {});
  /// Leaves an unfinished bar as it is, with the cursor on a line of its own.
  ~Progress();
  Progress(Progress&& other) noexcept;
  Progress& operator=(Progress&& other) noexcept;  ///< Leaves an unfinished bar likewise.
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// `done` steps and `samples` samples since it was made; `note` is shown behind: "loss 0.412".
  void update(std::int64_t done, std::int64_t samples = 0, std::string_view note = {});
  /// Writes the line that stays: all steps that were done, the rate over the whole time, the note.
  /// Later calls do nothing. Without a note, the last one.
  void finish(std::string_view note = {});

 private:
  struct State;
  std::unique_ptr<State> state_;  ///< Null: disabled, finished or moved from.
};

}  // namespace muster
