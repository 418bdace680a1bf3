#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace muster {

/// Threads that run tasks which block, each task at once: as many threads as were ever busy
/// together. Tasks must not throw. Any thread may call.
class Couriers {
 public:
  Couriers() = default;
  ~Couriers() { stop(); }
  Couriers(const Couriers&) = delete;
  Couriers& operator=(const Couriers&) = delete;

  void run(std::function<void()> task);
  /// Waits for all tasks and ends the threads. Not from a task.
  void stop();
  /// Tasks that are not done.
  std::size_t busy() const;

 private:
  void work();

  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::function<void()>> tasks_;
  std::size_t idle_ = 0;
  std::size_t running_ = 0;
  bool stop_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace muster
