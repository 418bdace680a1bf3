#pragma once

#include "communicators/couriers.hpp"
#include "communicators/pending.hpp"
#include "communicators/transport.hpp"

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace muster {

/// One rank's end of a group: a thread that executes its collectives one after the other, and
/// couriers for sends and receives. Threads that move data have no deadline; those that wait for
/// them have, and fail the group, which closes the transport, which wakes the former.
class Group final : public Watcher, public std::enable_shared_from_this<Group> {
 public:
  Group(int rank, int size, std::unique_ptr<Transport> transport);
  ~Group() override;
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;

  /// Throws CommunicationError once the group has failed. One call at a time.
  std::shared_ptr<Pending> start(Operation operation);

  /// Ends the group for `why`, and tells the peers. The first reason counts. Any thread.
  void fail(std::string_view why) noexcept { fail(why, {}); }

  /// Waits a short while for what is under way, says goodbye, closes and ends all threads.
  void leave() noexcept;

  void probe() noexcept override;
  void late(const Pending& pending, std::chrono::milliseconds deadline) noexcept override;

 private:
  /// What the launcher is told before anything is given up, so that it can look at all ranks.
  struct Stuck {
    std::string_view reason{};  ///< As Control::stuck() takes it; empty: it is not told.
    std::uint64_t sequence = 0;
    std::vector<int> missing{};  ///< deadline: ranks that did not come.
  };

  void fail(std::string_view why, const Stuck& stuck) noexcept;
  void serve() noexcept;
  void execute(Pending& pending, std::uint64_t ordinal) noexcept;
  void attempt(Pending& pending, const std::function<void()>& body) noexcept;
  void start_parcel(const std::shared_ptr<Pending>& pending);
  void lost(int peer) noexcept;
  std::optional<std::string> bad_news();
  std::string loss(int peer);
  void give_up(Pending& pending) noexcept;
  bool idle() const;
  std::optional<std::string> failure() const;
  std::uint64_t running_sequence() const;
  /// Peers that have not come to the operation.
  std::vector<int> missing(const Pending& pending) const;
  std::string progress(const Pending& pending, const std::vector<int>& missing) const;

  int rank_;
  int size_;
  std::unique_ptr<Transport> transport_;

  std::mutex failing_;  ///< Held while the group is being failed.
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::shared_ptr<Pending>> queue_;
  std::shared_ptr<Pending> running_;
  std::uint64_t ordinal_ = 0;  ///< Of the newest collective that was begun.
  std::optional<std::string> failure_;
  Stuck stuck_;  ///< What it failed of.
  bool stop_ = false;

  Couriers couriers_;
  std::thread thread_;
};

}  // namespace muster
