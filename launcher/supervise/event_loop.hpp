#pragma once

#include <chrono>
#include <functional>
#include <memory>

namespace muster::launcher {

/// Waits for descriptors and times, and calls back; one thread, no polling. Opens nothing before it
/// is used first, which must be in the process that runs it: not before a fork.
class EventLoop {
 public:
  using Callback = std::function<void()>;
  enum class Direction { readable, writable };

  /// A descriptor that is looked at until this is destroyed, which a callback may do. The
  /// descriptor is borrowed and becomes non-blocking.
  class Watch {
   public:
    struct State;
    explicit Watch(std::shared_ptr<State> state) : state_(std::move(state)) {}
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;
    ~Watch();
    void pause() noexcept;
    void resume();

   private:
    std::shared_ptr<State> state_;
  };

  /// Calls back once, when its time has come.
  class Timer {
   public:
    struct State;
    explicit Timer(std::shared_ptr<State> state) : state_(std::move(state)) {}
    Timer(const Timer&) = delete;
    Timer& operator=(const Timer&) = delete;
    ~Timer();
    /// Replaces what was set before.
    void set(std::chrono::nanoseconds from_now, Callback callback);
    void cancel();
    bool pending() const noexcept;

   private:
    std::shared_ptr<State> state_;
  };

  EventLoop();
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;
  ~EventLoop();

  /// Calls back again and again while the descriptor, which must not be a regular file, is ready.
  std::unique_ptr<Watch> watch(int fd, Direction direction, Callback callback);
  /// The same for a descriptor that other programs may have too: it is left as it is. Null if it is
  /// always ready, and cannot be watched: a regular file, a folder, /dev/null.
  std::unique_ptr<Watch> watch_shared(int fd, Direction direction, Callback callback);
  std::unique_ptr<Timer> timer();

  /// Until stop(). What callbacks throw comes out of it.
  void run();
  void stop();

 private:
  struct Implementation;
  Implementation& implementation();

  std::unique_ptr<Implementation> implementation_;
};

}  // namespace muster::launcher
