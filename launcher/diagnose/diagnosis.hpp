#pragma once

#include "diagnose/hang_facts.hpp"
#include "diagnose/stall.hpp"
#include "supervise/event_loop.hpp"
#include "unique_fd.hpp"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <thread>
#include <vector>

namespace muster::launcher {

/// Looks at all ranks when one of them says that it is stuck, when steps stand still, or when
/// somebody asks; says once what it found; and only then lets the ranks give up.
///
/// Stacks are read in a thread that lives for less than a second, so that the loop goes on; it must
/// be gone (finish()) before this process forks, or waits for any child.
class Diagnosis {
 public:
  /// What it needs of its job. All are called in the loop's thread.
  struct Job {
    std::function<HangFacts()> facts;                      ///< But for the stacks.
    std::function<void(const HangFacts& facts)> tell;      ///< It was looked at.
    std::function<void(std::size_t rank)> answer;          ///< The rank, by its place, may give up.
    std::function<void(std::size_t rank)> ask_for_stacks;  ///< SIGURG to this one.
    std::function<void(const HangCause& cause)> stalled;   ///< After tell().
  };
  /// hang_timeout: longest time without a step; nothing: steps may take as long as they do.
  Diagnosis(EventLoop& loop, Job job, std::optional<std::chrono::nanoseconds> hang_timeout);
  Diagnosis(const Diagnosis&) = delete;
  Diagnosis& operator=(const Diagnosis&) = delete;
  ~Diagnosis();

  /// SIGQUIT.
  void asked();
  /// A message of the rank at place `rank`: stuck or stack.
  void heard(std::size_t rank, const ControlMessage& message);
  /// The job was stopped, and goes on.
  void resumed();
  /// The job is being ended for another reason: who waits is let go, nothing more is looked at
  /// unless somebody asks.
  void ending();
  /// Waits for the thread, and forgets what it found.
  void finish();

 private:
  enum class Phase { idle, settling, reading, asking };

  void stuck(std::size_t rank, const ControlMessage& message);
  bool told_before(std::size_t rank, const HangFacts& now) const;
  void await_end(const HangCause& cause, std::int64_t latest_ns);
  void begin(const HangCause& cause);
  void read() noexcept;
  void on_read();
  void tell();
  void release();
  void watch_steps();
  void look_at_steps();

  EventLoop& loop_;
  Job job_;
  std::optional<std::chrono::nanoseconds> hang_timeout_;
  Phase phase_ = Phase::idle;
  bool ending_ = false;
  bool asked_again_ = false;
  std::int64_t resumed_ns_ = 0;
  HangCause cause_;
  HangFacts facts_;
  std::set<std::size_t> stuck_;  ///< Ranks that wait for an answer.
  std::map<std::size_t, std::vector<std::uint64_t>>
      addresses_;                ///< What ranks told of their stacks.
  std::vector<RankState> told_;  ///< How ranks were when a hang was last told; empty: never.
  UniqueFd done_;                ///< An eventfd: the thread has read all.
  std::thread reader_;
  std::unique_ptr<EventLoop::Watch> done_watch_;
  std::unique_ptr<EventLoop::Timer> timer_, steps_;
};

}  // namespace muster::launcher
