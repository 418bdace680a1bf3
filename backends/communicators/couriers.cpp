#include "communicators/couriers.hpp"

#include "communicators/signals.hpp"

#include <pthread.h>
#include <utility>

namespace muster {

void Couriers::stop() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  for (auto& thread : threads_) {
    thread.join();
  }
  threads_.clear();
}

void Couriers::run(std::function<void()> task) {
  const std::lock_guard lock(mutex_);
  tasks_.push_back(std::move(task));
  if (idle_ < tasks_.size()) {
    threads_.push_back(quiet_thread([this] { work(); }));
  }
  wake_.notify_one();
}

std::size_t Couriers::busy() const {
  const std::lock_guard lock(mutex_);
  return running_ + tasks_.size();
}

void Couriers::work() {
  // Else it would have the name of the thread that first needed it.
  pthread_setname_np(pthread_self(), "muster-courier");
  std::unique_lock lock(mutex_);
  for (;;) {
    ++idle_;
    wake_.wait(lock, [&] { return stop_ || !tasks_.empty(); });
    --idle_;
    if (tasks_.empty()) {
      return;
    }
    auto task = std::move(tasks_.front());
    tasks_.pop_front();
    ++running_;
    lock.unlock();
    task();
    task = nullptr;
    lock.lock();
    --running_;
  }
}

}  // namespace muster
