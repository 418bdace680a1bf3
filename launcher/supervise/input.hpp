#pragma once

#include "supervise/event_loop.hpp"
#include "supervise/job_options.hpp"
#include "unique_fd.hpp"

#include <memory>
#include <string>
#include <vector>

namespace muster::launcher {

/// Our stdin, as the ranks get it. The rank that reads it gets the descriptor itself, so nothing is
/// read ahead of it; with `--stdin all` each rank gets a copy through a pipe. The others, and all
/// if stdin is a terminal that we are in the background of, get /dev/null.
class Input {
 public:
  /// Throws Error if there are no descriptors left.
  Input(std::size_t ranks, const JobOptions& options);

  /// The rank's stdin.
  int descriptor_of(std::size_t rank) const { return ends_.at(rank); }
  /// Our copies of the ranks' ends; after the fork.
  void close_theirs();
  /// Copies, where something is to be copied, until the end of stdin or of the ranks.
  void start(EventLoop& loop);

 private:
  struct Reader {
    UniqueFd pipe;
    std::size_t written = 0;  ///< Of the bytes at hand.
    std::unique_ptr<EventLoop::Watch> watch;
  };

  void read_more();
  void write_to(Reader& reader);
  void after_writing();

  UniqueFd nothing_;
  std::vector<UniqueFd> theirs_;
  std::vector<int> ends_;
  std::vector<Reader> readers_;
  std::string bytes_;
  EventLoop* loop_ = nullptr;
  std::unique_ptr<EventLoop::Watch> source_;
  bool always_ready_ = false;  ///< A file, a folder, /dev/null.
};

}  // namespace muster::launcher
