#pragma once

#include <muster/control.hpp>

#include "supervise/event_loop.hpp"
#include "unique_fd.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace muster::launcher {

/// What a rank has said over its control channel.
struct RankRecord {
  bool ready = false;
  std::uint64_t step = 0;
  std::uint64_t checkpoint = 0;
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
  void start(EventLoop& loop);
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

  static bool receive(Rank& rank);
  static void keep(ControlMessage message, RankRecord& record);

  std::vector<Rank> ranks_;
  std::vector<UniqueFd> theirs_;
  UniqueFd memory_;
};

}  // namespace muster::launcher
