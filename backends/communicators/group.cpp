#include "communicators/group.hpp"

#include <muster/control.hpp>
#include <muster/error.hpp>

#include "communicators/note.hpp"
#include "communicators/signals.hpp"
#include "communicators/title.hpp"
#include "text.hpp"

#include <algorithm>
#include <exception>
#include <functional>
#include <utility>
#include <vector>

namespace muster {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;
using Kind = Operation::Kind;

/// What leave() waits, at most: for our own operations, and, when they were told, for peers to
/// leave too. The destructor of a communicator promises two seconds.
constexpr milliseconds drain_limit{1000};
constexpr milliseconds parting_limit{500};

template <class Condition>
bool within(milliseconds limit, const Condition& condition) {
  const auto end = Clock::now() + limit;
  while (!condition()) {
    if (Clock::now() >= end) {
      return false;
    }
    std::this_thread::sleep_for(milliseconds(1));
  }
  return true;
}

bool point_to_point(Kind kind) { return kind == Kind::send || kind == Kind::receive; }

}  // namespace

Group::Group(int rank, int size, std::unique_ptr<Transport> transport)
    : rank_(rank),
      size_(size),
      transport_(std::move(transport)),
      thread_(quiet_thread([this] { serve(); })) {}

Group::~Group() { leave(); }

std::shared_ptr<Pending> Group::start(Operation operation) {
  auto pending = std::make_shared<Pending>(std::move(operation), shared_from_this());
  if (const auto why = failure()) {
    throw CommunicationError(title(pending->operation()) + " on " + rank_text(rank_) +
                             ": the group has failed before: " + *why);
  }
  if (point_to_point(pending->operation().kind)) {
    start_parcel(pending);
    return pending;
  }
  {
    const std::lock_guard lock(mutex_);
    if (queue_.empty() && !running_) {
      note(pending->operation(), CollectiveState::queued);
    }
    queue_.push_back(pending);
  }
  wake_.notify_one();
  return pending;
}

void Group::serve() noexcept {
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_.wait(lock, [&] { return stop_ || !queue_.empty(); });
    if (queue_.empty()) {
      return;
    }
    running_ = std::move(queue_.front());
    queue_.pop_front();
    const auto pending = running_;
    if (!failure_) {
      const auto ordinal = ++ordinal_;
      lock.unlock();
      execute(*pending, ordinal);
      lock.lock();
    } else {
      lock.unlock();
      give_up(*pending);
      lock.lock();
    }
    running_.reset();
  }
}

void Group::execute(Pending& pending, std::uint64_t ordinal) noexcept {
  note(pending.operation(), CollectiveState::running);
  attempt(pending, [&] { transport_->collective(pending.operation(), ordinal); });
  transport_->prepare();
}

/// Ends the operation: with what `body` does, which moves its data, or with the group's failure.
void Group::attempt(Pending& pending, const std::function<void()>& body) noexcept {
  try {
    body();
    note(pending.operation(), CollectiveState::done);
    pending.finish();
    return;
  } catch (const PeerLost& error) {
    lost(error.peer());
  } catch (const Disagreement& error) {
    fail(rank_text(rank_) + ": " + first_line(error.what()),
         {.reason = "mismatch", .sequence = pending.operation().sequence});
  } catch (const std::exception& error) {
    fail(rank_text(rank_) + ": " + first_line(error.what()));
  }
  give_up(pending);
}

void Group::start_parcel(const std::shared_ptr<Pending>& pending) {
  note(pending->operation(), CollectiveState::running);
  try {
    couriers_.run([this, pending, finish = transport_->parcel(pending->operation())] {
      attempt(*pending, finish);
    });
  } catch (const PeerLost& error) {
    lost(error.peer());
    give_up(*pending);
  }
}

/// After fail(): ends the operation with the group's reason.
void Group::give_up(Pending& pending) noexcept {
  const std::lock_guard closing(failing_);
  note(pending.operation(), CollectiveState::failed);
  const auto why = title(pending.operation()) + " on " + rank_text(rank_) + " failed after " +
                   to_text(pending.age()) + ": " + failure().value_or("the group has failed");
  Stuck stuck;
  {
    const std::lock_guard lock(mutex_);
    stuck = stuck_;
  }
  if (stuck.reason == "deadline") {
    pending.run_out(why, std::move(stuck.missing));
  } else if (stuck.reason == "mismatch") {
    pending.mismatch(why);
  } else {
    pending.fail(why);
  }
}

void Group::fail(std::string_view why, const Stuck& stuck) noexcept {
  const std::lock_guard closing(failing_);
  {
    const std::lock_guard lock(mutex_);
    if (failure_) {
      return;
    }
    failure_ = std::string(why);
    stuck_ = stuck;
  }
  if (!stuck.reason.empty()) {
    Control::instance().stuck(stuck.reason, stuck.sequence, why);
  }
  transport_->say(LastWord::failed, why);
  transport_->close();
}

void Group::lost(int peer) noexcept {
  // The peer may have closed because of another, whose word is on its way.
  within(milliseconds(20),
         [&] { return failure() || bad_news() || transport_->news(peer).word != LastWord::none; });
  if (failure()) {
    return;
  }
  if (const auto why = bad_news()) {
    fail(*why);
  } else {
    fail(loss(peer), {.reason = "lost", .sequence = running_sequence()});
  }
}

/// Why a peer failed, if one told.
std::optional<std::string> Group::bad_news() {
  for (int peer = 0; peer < size_; ++peer) {
    if (peer != rank_) {
      const auto news = transport_->news(peer);
      if (news.word == LastWord::failed) {
        return news.text;
      }
    }
  }
  return std::nullopt;
}

std::string Group::loss(int peer) {
  const auto news = transport_->news(peer);
  const auto newest = transport_->newest(peer);
  const auto last = newest.sequence == 0 ? std::string("it had started no collective")
                                         : "its last collective here was " + to_text(newest);
  if (news.word == LastWord::leaving) {
    return rank_text(peer) + " has left the group, its communicator was destroyed; " + last;
  }
  return rank_text(peer) +
         " is gone: it closed its connection without a word, so its process has ended or was "
         "killed; " +
         last;
}

void Group::probe() noexcept {
  if (failure()) {
    return;
  }
  if (const auto why = bad_news()) {
    fail(*why);
    return;
  }
  for (int peer = 0; peer < size_; ++peer) {
    if (peer != rank_ && transport_->news(peer).lost) {
      lost(peer);
      return;
    }
  }
}

void Group::late(const Pending& pending, milliseconds deadline) noexcept {
  if (failure()) {
    return;
  }
  auto missed = missing(pending);
  const auto why = rank_text(rank_) + " gave up " + title(pending.operation()) + " after " +
                   to_text(deadline) + ": " + progress(pending, missed);
  fail(why, {.reason = "deadline",
             .sequence = pending.operation().sequence,
             .missing = std::move(missed)});
}

std::vector<int> Group::missing(const Pending& pending) const {
  const auto& operation = pending.operation();
  if (point_to_point(operation.kind)) {
    return {operation.peer};
  }
  std::uint64_t ordinal = 0;
  {
    const std::lock_guard lock(mutex_);
    ordinal = ordinal_;
  }
  std::vector<int> ranks;
  for (int peer = 0; peer < size_; ++peer) {
    if (peer != rank_ && !transport_->arrived(peer, ordinal)) {
      ranks.push_back(peer);
    }
  }
  return ranks;
}

/// Where an operation that takes too long is, and who is missing.
std::string Group::progress(const Pending& pending, const std::vector<int>& missing) const {
  const auto& operation = pending.operation();
  if (point_to_point(operation.kind)) {
    return rank_text(operation.peer) +
           (operation.kind == Kind::send ? " did not receive it" : " did not send it");
  }
  std::string text;
  {
    const std::lock_guard lock(mutex_);
    if (running_ && running_.get() != &pending) {
      text = "it is queued behind " + title(running_->operation()) + "; ";
    }
  }
  if (missing.empty()) {
    return text + "all ranks have started it, the data did not come through";
  }
  std::vector<int> arrived;
  for (int peer = 0; peer < size_; ++peer) {
    if (peer != rank_ && std::find(missing.begin(), missing.end(), peer) == missing.end()) {
      arrived.push_back(peer);
    }
  }
  text += "also started by " + ranks_text(arrived) + ", not started by " + ranks_text(missing);
  for (const int peer : missing) {
    const auto newest = transport_->newest(peer);
    text += "; the last collective of " + rank_text(peer) + " here was " +
            (newest.sequence == 0 ? std::string("none") : to_text(newest));
  }
  return text;
}

/// 0 if nothing is under way.
std::uint64_t Group::running_sequence() const {
  const std::lock_guard lock(mutex_);
  return running_ ? running_->operation().sequence : 0;
}

std::optional<std::string> Group::failure() const {
  const std::lock_guard lock(mutex_);
  return failure_;
}

bool Group::idle() const {
  const std::lock_guard lock(mutex_);
  return queue_.empty() && !running_ && couriers_.busy() == 0;
}

void Group::leave() noexcept {
  if (!thread_.joinable()) {
    return;
  }
  if (!within(drain_limit, [&] { return failure() || idle(); })) {
    fail(rank_text(rank_) + " destroyed its communicator while operations were under way");
  }
  if (!failure()) {
    transport_->say(LastWord::leaving, "");
    // Closing now could cut off what peers have not read yet.
    within(transport_->data_stays() ? milliseconds(0) : parting_limit, [&] {
      for (int peer = 0; peer < size_; ++peer) {
        if (peer != rank_ && transport_->news(peer).silent()) {
          return false;
        }
      }
      return true;
    });
  }
  {
    const std::lock_guard closing(failing_);
    transport_->close();
  }
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  thread_.join();
  couriers_.stop();
}

}  // namespace muster
