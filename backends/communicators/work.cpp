#include <muster/communicator.hpp>
#include <muster/time_spent.hpp>

#include <utility>

namespace muster {

TimeSpent& time_spent() noexcept {
  thread_local TimeSpent spent;
  return spent;
}

Work::Work(std::shared_ptr<PendingOperation> pending, std::chrono::milliseconds timeout)
    : pending_(std::move(pending)), timeout_(timeout) {}

void Work::wait() { wait(timeout_); }

void Work::wait(std::chrono::milliseconds deadline) {
  if (pending_) {
    const SpendingTime waiting(&TimeSpent::communication);
    pending_->wait(deadline);
  }
}

void Work::order_after(const c10::Stream& stream) {
  // A CPU stream is the calling thread. Backends of other devices bring a pending operation
  // whose wait only orders streams.
  static_cast<void>(stream);
  wait();
}

bool Work::done() const noexcept { return !pending_ || pending_->done(); }

}  // namespace muster
