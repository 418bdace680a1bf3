#pragma once

#include <muster/world.hpp>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace muster {

/// What a rank is doing, in memory that it shares with the launcher: readable when the rank hangs
/// or is dead. One slot a rank; written by the rank only. Text is cut to fit and ends with a zero.
struct ControlSlot {
  std::atomic<std::uint64_t> version;   ///< Odd while the rank writes the fields below.
  std::atomic<std::uint64_t> sequence;  ///< Of the newest collective; 0 before the first.
  std::atomic<std::uint64_t> bytes;     ///< Of its tensor.
  std::atomic<std::uint64_t> step;      ///< Optimizer steps done.
  std::atomic<std::uint32_t> state;     ///< A CollectiveState.
  char operation[32];                   ///< "all_reduce", ...
  char label[64];                       ///< "gradients 3/5", ...
};
enum class CollectiveState : std::uint32_t { none, queued, running, done, failed };

/// A copy of a slot.
struct ControlNote {
  std::uint64_t sequence = 0, bytes = 0, step = 0;
  CollectiveState state = CollectiveState::none;
  std::string operation, label;

  bool operator==(const ControlNote&) const = default;
};

/// Messages a rank sends to the launcher, one a datagram (SOCK_SEQPACKET).
struct ControlMessage {
  enum class Kind { ready, step, checkpoint, death };
  Kind kind = Kind::ready;
  std::uint64_t number = 0;       ///< Of the step or checkpoint.
  std::int64_t monotonic_ns = 0;  ///< CLOCK_MONOTONIC when it was made.
  std::string reason;             ///< death: "exception", "signal", "communication", ...
  std::string text;               ///< death: the exception's text, or the signal's name.

  bool operator==(const ControlMessage&) const = default;
};
/// One line of five words, at most 4096 bytes; text that is longer is cut.
std::string encode(const ControlMessage& message);
/// Nothing for bytes that are not a message.
std::optional<ControlMessage> decode(std::string_view bytes);

/// The rank's end. Without a launcher of ours (no MUSTER_CONTROL_FD) every call does nothing.
/// All calls never throw and may come from any thread. None blocks; only death() waits, at most
/// 0.2 s, for a launcher that has not read for long.
class Control {
 public:
  /// The channel named by MUSTER_CONTROL_FD and MUSTER_CONTROL_MEMORY_FD, unless what they name is
  /// something else by now. The descriptors become close-on-exec. A forked child has no channel.
  static Control& instance();

  Control(const Control&) = delete;
  Control& operator=(const Control&) = delete;
  ~Control() = delete;  // Lives as long as the process: threads may report while it ends.

  bool connected() const noexcept;
  void ready() noexcept;
  void step(std::uint64_t number) noexcept;
  void checkpoint(std::uint64_t number) noexcept;
  /// The first record of a process is the one that counts; later ones are dropped.
  void death(std::string_view reason, std::string_view text) noexcept;
  /// death("signal", name), for a signal's handler: no allocation, no lock. name: "SIGSEGV"
  void death_by_signal(std::string_view name) noexcept;
  /// Records the collective that is being started, or its new state.
  void note(std::uint64_t sequence, std::string_view operation, std::string_view label,
            std::uint64_t bytes, CollectiveState state) noexcept;

 private:
  Control() noexcept;
  bool is_ours() const noexcept;
  void send(const ControlMessage& message) noexcept;

  int socket_ = -1;
  ControlSlot* slot_ = nullptr;
  int process_ = 0;
  std::atomic<bool> dead_ = false;
  std::mutex writing_;  // Of the slot.
};

/// Reads a slot that another process writes; nothing if no whole state was seen in a few tries.
std::optional<ControlNote> read_slot(const ControlSlot& slot);

}  // namespace muster
