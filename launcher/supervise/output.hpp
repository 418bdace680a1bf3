#pragma once

#include "supervise/channels.hpp"
#include "supervise/event_loop.hpp"
#include "supervise/log_folder.hpp"
#include "supervise/rank_stream.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

namespace muster::launcher {

/// Everything that ranks print, on its way to our stdout and stderr. Memory is bounded: ranks wait
/// for a slow reader, as they would without a launcher.
class Output {
 public:
  /// `changed` is called when ended(), flushed() or error() may have a new answer.
  Output(EventLoop& loop, Channels& channels, LogFolder& logs, const JobOptions& options,
         std::function<void()> changed);
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;
  ~Output() = default;

  /// No rank can print any more.
  bool ended() const noexcept;
  /// All that came has been written.
  bool flushed() const noexcept;
  /// An errno of our stdout; EPIPE: its reader is gone.
  int error() const noexcept { return outlets_.front()->sink.error(); }

  /// Reads what waits in the pipes; it counts as said at `now_ns`.
  void catch_up(std::int64_t now_ns);
  /// A line of our own to stderr.
  void notice(std::string_view line);
  /// The terminal's size has changed.
  void resize();
  /// Stops reading, so that ranks that print get SIGPIPE.
  void stop_reading();
  /// Nothing more will come: ends lines that were left open.
  void close_lines(bool failed);
  /// Of a rank's stderr, or, where that was silent, of its stdout; null if neither came here.
  const Tail* tail_of(int rank) const noexcept;
  /// Of a rank's stderr alone.
  const Tail* error_tail_of(int rank) const noexcept;

 private:
  Outlet* outlet_for(int target) { return outlets_[target == 1 ? 0 : outlets_.size() - 1].get(); }
  RankStream::Place place_of(const Channel& channel, LogFolder& logs, const JobOptions& options);
  void on_readable(RankStream& stream);
  void on_log_failed(const LogFile& log);
  void on_outlet_changed();
  void on_partial_due();
  void plan_partials();
  void resume_all();

  EventLoop& loop_;
  std::function<void()> changed_;
  std::vector<std::unique_ptr<Outlet>> outlets_;  ///< stdout and stderr; one if they are the same.
  std::vector<std::unique_ptr<RankStream>> streams_;
  std::vector<int> prefix_columns_;
  std::unique_ptr<EventLoop::Timer> partial_timer_;
  bool prefixed_;
  bool told_of_logs_ = false;
};

}  // namespace muster::launcher
