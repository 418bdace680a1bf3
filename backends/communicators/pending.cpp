#include "communicators/pending.hpp"

#include <muster/background.hpp>
#include <muster/communication_error.hpp>
#include <muster/control.hpp>

#include <algorithm>
#include <optional>
#include <utility>

namespace muster {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

constexpr milliseconds probe_interval{50};
/// Tells the launcher that this thread waits.
struct Waiting {
  Waiting() noexcept { Control::instance().waiting(true); }
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;
  ~Waiting() { Control::instance().waiting(false); }
};

constexpr milliseconds longest_wait{std::chrono::hours(24 * 365)};

}  // namespace

Pending::Pending(Operation operation, std::shared_ptr<Watcher> watcher)
    : operation_(std::move(operation)), watcher_(std::move(watcher)) {}

void Pending::wait(milliseconds deadline) {
  const auto end = Clock::now() + std::clamp(deadline, milliseconds(0), longest_wait);
  std::unique_lock lock(mutex_);
  std::optional<Waiting> waiting;
  if (!done_ && !operation_.label.starts_with(background)) waiting.emplace();
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
    std::rethrow_exception(error_);
  }
}

bool Pending::done() const noexcept {
  const std::lock_guard lock(mutex_);
  return done_;
}

milliseconds Pending::age() const {
  return std::chrono::duration_cast<milliseconds>(Clock::now() - started_);
}

void Pending::finish() noexcept { end(nullptr); }

void Pending::fail(const std::string& why) noexcept {
  end(std::make_exception_ptr(CommunicationError(why)));
}

void Pending::run_out(const std::string& why, std::vector<int> missing) noexcept {
  end(std::make_exception_ptr(
      CommunicationTimeout(why, {std::string(to_string(operation_.kind)), operation_.label,
                                 operation_.sequence, std::move(missing)})));
}

void Pending::mismatch(const std::string& why) noexcept {
  end(std::make_exception_ptr(CollectiveMismatch(why)));
}

void Pending::end(std::exception_ptr error) noexcept {
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
