#include "communicators/pending.hpp"

#include <muster/control.hpp>
#include <muster/error.hpp>

#include <algorithm>
#include <utility>

namespace muster {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

constexpr milliseconds probe_interval{50};
constexpr milliseconds longest_wait{std::chrono::hours(24 * 365)};

}  // namespace

Pending::Pending(Operation operation, std::shared_ptr<Watcher> watcher)
    : operation_(std::move(operation)), watcher_(std::move(watcher)) {}

void Pending::wait(milliseconds deadline) {
  const auto end = Clock::now() + std::clamp(deadline, milliseconds(0), longest_wait);
  std::unique_lock lock(mutex_);
  while (!ended_.wait_until(lock, std::min(end, Clock::now() + probe_interval),
                            [&] { return done_; })) {
    lock.unlock();
    if (Clock::now() >= end) {
      watcher_->late(*this, deadline);
    } else {
      watcher_->probe();
    }
    lock.lock();
  }
  if (error_) {
    throw CommunicationError(*error_);
  }
}

bool Pending::done() const noexcept {
  const std::lock_guard lock(mutex_);
  return done_;
}

milliseconds Pending::age() const {
  return std::chrono::duration_cast<milliseconds>(Clock::now() - started_);
}

void Pending::finish() noexcept { end(std::nullopt); }

void Pending::fail(std::string why) noexcept { end(std::move(why)); }

void Pending::end(std::optional<std::string> error) noexcept {
  at::Tensor output;
  at::Tensor input;
  const std::lock_guard lock(mutex_);
  if (!done_) {
    done_ = true;
    error_ = std::move(error);
    output = std::move(operation_.output);
    input = std::move(operation_.input);
    ended_.notify_all();
  }
}

}  // namespace muster
