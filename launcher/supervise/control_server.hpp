#pragma once

#include <muster/control.hpp>

#include "supervise/event_loop.hpp"
#include "unique_fd.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace muster::launcher {

/// What a rank has said over its control channel.
struct RankRecord {
  bool ready = false;
  bool tells_stack = false;  ///< It answers SIGURG with its stack.
  std::uint64_t step = 0;
  std::uint64_t checkpoint = 0;
  std::int64_t step_ns = 0;             ///< When the newest step was told; 0: none was.
  std::optional<ControlMessage> death;  ///< The first one.
};

/// The launcher's ends of the ranks' control channels.
class ControlServer {
 public:
  /// Throws Error if there are no descriptors left. Where memory cannot be shared there is none.
  explicit ControlServer(std::size_t ranks);

  /// The rank's socket.
  int descriptor_of(std::size_t rank) const { return theirs_.at(rank).get(); }
  /// One ControlSlot a rank; -1: none.
  int memory() const noexcept { return memory_.get(); }
  /// Our copies of the ranks' ends; after the fork.
  void close_theirs() { theirs_.clear(); }
  /// `heard` is called for what ranks want to be looked at for: Kind::stuck and Kind::stack.
  using Heard = std::function<void(std::size_t rank, const ControlMessage& message)>;
  void start(EventLoop& loop, Heard heard);
  /// Lets a rank that is stuck give up.
  void answer(std::size_t rank) const;
  /// Reads what is still there: a rank's last words may come after its end.
  void drain();

  const RankRecord& record_of(std::size_t rank) const { return ranks_.at(rank).record; }
  /// What the rank's slot of the memory says; nothing if it has none, or died while it wrote.
  std::optional<ControlNote> note_of(std::size_t rank) const;

 private:
  struct Rank {
    UniqueFd socket;
    std::unique_ptr<EventLoop::Watch> watch;
    RankRecord record;
  };

  bool receive(std::size_t rank);
  void keep(std::size_t rank, ControlMessage message);

  std::vector<Rank> ranks_;
  Heard heard_;
  std::vector<UniqueFd> theirs_;
  UniqueFd memory_;
};

}  // namespace muster::launcher
