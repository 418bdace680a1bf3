#pragma once

#include <muster/world.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
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
  std::atomic<std::uint32_t> waiting;   ///< Threads that a collective keeps waiting.
  std::atomic<std::int64_t> since_ns;   ///< CLOCK_MONOTONIC when the collective began.
  std::atomic<std::int64_t> active_ns;  ///< ... of the newest sign of life, of whatever kind.
  std::atomic<std::int64_t> busy_ns;  ///< ... since when it does what `busy` says; 0: it does not.
  char operation[32];                 ///< "all_reduce", ...
  char label[64];                     ///< "gradients 3/5", ...
  char tensor[64];                    ///< "float32 [3, 4]"
  char busy[40];                      ///< "save_model", ...
};
enum class CollectiveState : std::uint32_t { none, queued, running, done, failed };

/// A copy of a slot.
struct ControlNote {
  std::uint64_t sequence = 0, bytes = 0, step = 0;
  CollectiveState state = CollectiveState::none;
  std::string operation{}, label{}, tensor{};
  std::uint32_t waiting = 0;
  std::int64_t since_ns = 0, active_ns = 0;
  std::string busy{};  ///< Empty: it is not.
  std::int64_t busy_ns = 0;

  bool operator==(const ControlNote&) const = default;
};

/// A collective, as a rank tells of it.
struct CollectiveNote {
  std::uint64_t sequence = 0, bytes = 0;
  CollectiveState state = CollectiveState::none;
  std::string_view operation, label, tensor;
};

/// Messages a rank sends to the launcher, one a datagram (SOCK_SEQPACKET).
struct ControlMessage {
  enum class Kind {
    ready,
    step,
    checkpoint,
    death,
    stuck,  ///< A collective will not end. The rank waits for `control_answer` before it gives up.
    stack,  ///< Where the rank's first thread is; the answer to SIGURG. Without addresses: from
            ///< now on it answers; ranks that never said so are not sent SIGURG.
  };
  Kind kind = Kind::ready;
  std::uint64_t number = 0;       ///< Of the step or checkpoint; stuck: the sequence.
  std::int64_t monotonic_ns = 0;  ///< CLOCK_MONOTONIC when it was made.
  std::string
      reason;        ///< death: "exception", "signal", ...; stuck: "deadline", "mismatch", "lost".
  std::string text;  ///< death: the exception's text, or the signal's name; stuck: what is known.
                     ///< stack: addresses, innermost first, in hexadecimal with commas between.

  bool operator==(const ControlMessage&) const = default;
};
/// One line of five words, at most 4096 bytes; text that is longer is cut.
std::string encode(const ControlMessage& message);
/// Nothing for bytes that are not a message.
std::optional<ControlMessage> decode(std::string_view bytes);

/// What the launcher sends a rank that is stuck, once it has looked at all ranks.
inline constexpr std::string_view control_answer = "SEEN";

/// The rank's end. Without a launcher of ours (no MUSTER_CONTROL_FD) every call does nothing.
/// All calls never throw and may come from any thread. None blocks but stuck(), and death(), which
/// waits at most 0.2 s for a launcher that has not read for long.
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
  /// Where the first thread is, for SIGURG's handler. addresses: innermost first; none: there is a
  /// handler now.
  void stack(void* const* addresses, int count) noexcept;
  /// Records the collective that is being started, or its new state.
  void note(const CollectiveNote& collective) noexcept;
  /// This thread begins, or ends, to wait for a collective.
  void waiting(bool begins) noexcept;
  /// A sign of life that is no step: a batch was read, a forward pass ran.
  void active() noexcept;
  /// From now on the rank does something that takes its time, and no rank counts as hung. May be
  /// nested; the newest is shown.
  void begin_busy(std::string_view what) noexcept;
  void end_busy() noexcept;
  /// Tells the launcher that a collective will not end, and blocks until it has looked at all
  /// ranks, at most `stuck_patience`. reason: see ControlMessage. False if nobody answered.
  bool stuck(std::string_view reason, std::uint64_t sequence, std::string_view text) noexcept;
  static constexpr std::chrono::seconds stuck_patience{5};
  /// While `expected`, stuck() tells nobody: a check of deadlines lets one pass on purpose.
  void expect_stuck(bool expected) noexcept { stuck_is_expected_ = expected; }

 private:
  Control() noexcept;
  bool is_ours() const noexcept;
  void send(const ControlMessage& message) noexcept;
  bool ask(std::string_view reason, std::uint64_t sequence, std::string_view text) noexcept;

  int socket_ = -1;
  ControlSlot* slot_ = nullptr;
  int process_ = 0;
  std::atomic<bool> dead_ = false;
  std::atomic<bool> stuck_is_expected_ = false;
  std::mutex writing_;  // Of the slot.
  std::mutex asking_;   // For an answer.
  static constexpr std::size_t most_nested = 8;
  std::array<std::array<char, sizeof(ControlSlot::busy)>, most_nested> busy_{};  // Outermost first.
  std::size_t nested_ = 0;
};

/// Reads a slot that another process writes; nothing if no whole state was seen in a few tries.
std::optional<ControlNote> read_slot(const ControlSlot& slot);

}  // namespace muster
