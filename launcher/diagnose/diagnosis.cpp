#include "diagnose/diagnosis.hpp"

#include "diagnose/read_stacks.hpp"
#include "supervise/kernel.hpp"
#include "text.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <exception>
#include <sys/eventfd.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace muster::launcher {
namespace {

using std::chrono::milliseconds;

/// For all stacks together, so that the verdict comes within a second.
constexpr milliseconds reading_time{700};
/// For ranks to tell of their own stacks where we may not look.
constexpr milliseconds asking_time{250};
/// A rank that is missed may have failed, and no hang; a large one takes its time to be gone.
constexpr milliseconds missing_settle{2000};
constexpr milliseconds missing_look{50};
/// When another look has to be over first.
constexpr milliseconds look_after_look{100};
/// Others are on their way to the collective that does not fit.
constexpr milliseconds mismatch_settle{100};

HangCause cause_of(const HangFacts& facts, std::size_t rank, const ControlMessage& message) {
  HangCause cause;
  cause.kind = message.reason == "mismatch" ? HangCause::Kind::mismatch
               : message.reason == "lost"   ? HangCause::Kind::lost
                                            : HangCause::Kind::deadline;
  cause.rank = rank < facts.ranks.size() ? facts.ranks[rank].rank : static_cast<int>(rank);
  cause.text = message.text;
  return cause;
}

std::vector<std::uint64_t> addresses_in(std::string_view text) {
  std::vector<std::uint64_t> addresses;
  for (const auto word : split(text, ',')) {
    std::uint64_t address = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), address, 16);
    if (error == std::errc() && end == word.data() + word.size()) addresses.push_back(address);
  }
  return addresses;
}

/// Whether it knows its stack, which we do not.
bool could_tell(const RankState& rank) {
  return rank.tells_stack && !rank.ended && !rank.unread.empty();
}

bool same_place(const RankState& a, const RankState& b) {
  return a.note && b.note && a.note->sequence == b.note->sequence && a.note->step == b.note->step &&
         a.note->label == b.note->label;
}

Pulse pulse_of(const RankState& rank, std::int64_t step_ns) {
  Pulse pulse{
      .rank = rank.rank, .steps = 0, .last_ns = step_ns, .waiting = false, .excused = false};
  pulse.excused = rank.tracer != 0;
  if (!rank.note) return pulse;
  pulse.steps = rank.note->step;
  pulse.last_ns = std::max(step_ns, rank.note->active_ns);
  pulse.waiting = rank.note->waiting > 0;
  pulse.excused = pulse.excused || rank.note->busy_ns != 0;
  return pulse;
}

}  // namespace

Diagnosis::Diagnosis(EventLoop& loop, Job job, std::optional<std::chrono::nanoseconds> hang_timeout)
    : loop_(loop), job_(std::move(job)), hang_timeout_(hang_timeout), timer_(loop.timer()) {
  if (hang_timeout_) watch_steps();
}

Diagnosis::~Diagnosis() { finish(); }

void Diagnosis::asked() {
  if (phase_ != Phase::idle) {
    asked_again_ = true;  // What is told next was the state before somebody asked.
    return;
  }
  begin({.kind = HangCause::Kind::asked, .rank = -1, .text = {}, .seconds = 0});
}

void Diagnosis::heard(std::size_t rank, const ControlMessage& message) {
  if (message.kind == ControlMessage::Kind::stack) {
    if (message.text.empty()) return;  // It only says that it would tell.
    addresses_[rank] = addresses_in(message.text);
    const auto asked = std::ranges::count_if(facts_.ranks, could_tell);
    if (phase_ == Phase::asking && static_cast<std::ptrdiff_t>(addresses_.size()) >= asked) tell();
    return;
  }
  stuck(rank, message);
}

void Diagnosis::stuck(std::size_t rank, const ControlMessage& message) {
  stuck_.insert(rank);
  const auto now = job_.facts();
  if (ending_ || told_before(rank, now)) {
    job_.answer(rank);
    stuck_.erase(rank);
    return;
  }
  if (phase_ != Phase::idle) return;  // It is answered with the others.
  const auto cause = cause_of(now, rank, message);
  if (cause.kind == HangCause::Kind::deadline) {
    begin(cause);
    return;
  }
  phase_ = Phase::settling;
  if (cause.kind == HangCause::Kind::lost) {
    await_end(cause, now.now_ns + std::chrono::nanoseconds(missing_settle).count());
  } else {
    timer_->set(mismatch_settle, [this, cause] { begin(cause); });
  }
}

/// Begins when a rank has ended; if it failed, the job is ended for that instead.
void Diagnosis::await_end(const HangCause& cause, std::int64_t latest_ns) {
  timer_->set(missing_look, [this, cause, latest_ns] {
    const auto now = job_.facts();
    if (now.now_ns >= latest_ns || std::ranges::any_of(now.ranks, &RankState::ended)) {
      begin(cause);
    } else {
      await_end(cause, latest_ns);
    }
  });
}

/// One hang is told once: it is another one if the rank has moved since.
bool Diagnosis::told_before(std::size_t rank, const HangFacts& now) const {
  return rank < told_.size() && rank < now.ranks.size() && same_place(told_[rank], now.ranks[rank]);
}

void Diagnosis::begin(const HangCause& cause) {
  timer_->cancel();
  phase_ = Phase::reading;
  cause_ = cause;
  facts_ = job_.facts();
  facts_.cause = cause;
  addresses_.clear();
  done_.reset(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!done_) {  // No descriptor is left: the verdict needs none.
    tell();
    return;
  }
  done_watch_ = loop_.watch(done_.get(), EventLoop::Direction::readable, [this] { on_read(); });
  sigset_t all, before;
  sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    reader_ = std::thread([this] { read(); });
  } catch (const std::system_error&) {
    for (RankState& rank : facts_.ranks)
      if (!rank.ended) rank.unread = "no thread could be started to do it";
    const std::uint64_t one = 1;
    static_cast<void>(::write(done_.get(), &one, sizeof one) == sizeof one);
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

/// In the thread.
void Diagnosis::read() noexcept {
  try {
    read_stacks(facts_.ranks, std::chrono::steady_clock::now() + reading_time);
  } catch (const std::exception&) {
    // Out of memory: what was read before is told.
  }
  const std::uint64_t one = 1;
  while (::write(done_.get(), &one, sizeof one) < 0 && errno == EINTR) {
  }
}

void Diagnosis::on_read() {
  if (reader_.joinable()) reader_.join();
  done_watch_.reset();
  done_.reset();
  if (std::ranges::none_of(facts_.ranks, could_tell)) {
    tell();
    return;
  }
  phase_ = Phase::asking;
  for (std::size_t i = 0; i < facts_.ranks.size(); ++i)
    if (could_tell(facts_.ranks[i])) job_.ask_for_stacks(i);
  timer_->set(asking_time, [this] { tell(); });
}

void Diagnosis::tell() {
  timer_->cancel();
  const auto end = std::chrono::steady_clock::now() + asking_time;
  for (const auto& [place, addresses] : addresses_) {
    if (place < facts_.ranks.size() && facts_.ranks[place].threads.empty())
      name_addresses(facts_.ranks[place], addresses, end);
  }
  phase_ = Phase::idle;
  job_.tell(facts_);
  if (cause_.kind != HangCause::Kind::asked) told_ = facts_.ranks;
  release();
  if (cause_.kind == HangCause::Kind::stall) job_.stalled(cause_);
  if (std::exchange(asked_again_, false)) asked();
}

void Diagnosis::release() {
  for (const auto rank : stuck_) job_.answer(rank);
  stuck_.clear();
}

void Diagnosis::resumed() { resumed_ns_ = monotonic_ns(); }

void Diagnosis::ending() {
  ending_ = true;
  steps_.reset();
  if (phase_ == Phase::settling) {
    timer_->cancel();
    phase_ = Phase::idle;
  }
  if (phase_ != Phase::idle) return;
  release();
  if (std::exchange(asked_again_, false)) asked();
}

void Diagnosis::finish() {
  if (reader_.joinable()) reader_.join();
  done_watch_.reset();
  timer_->cancel();
  phase_ = Phase::idle;
}

void Diagnosis::watch_steps() {
  steps_ = loop_.timer();
  steps_->set(*hang_timeout_, [this] { look_at_steps(); });
}

void Diagnosis::look_at_steps() {
  const auto now = job_.facts();
  std::vector<Pulse> pulses;
  for (const auto& rank : now.ranks)
    if (!rank.ended) pulses.push_back(pulse_of(rank, rank.step_ns));
  // The others may have waited for that one, and may need a moment once it is done.
  if (std::ranges::any_of(pulses, &Pulse::excused)) resumed_ns_ = now.now_ns;
  const bool whole_job = static_cast<int>(now.ranks.size()) == now.world_size;
  const auto check =
      check_stall(pulses, now.now_ns, resumed_ns_, hang_timeout_->count(), whole_job);
  if (!check.stall) {
    const auto wait = std::max<std::int64_t>(check.look_again_ns - now.now_ns, 1'000'000);
    steps_->set(std::chrono::nanoseconds(wait), [this] { look_at_steps(); });
    return;
  }
  if (phase_ != Phase::idle) {  // Ranks are looked at already; it may not end the job.
    steps_->set(look_after_look, [this] { look_at_steps(); });
    return;
  }
  constexpr double ns_in_second = 1e9;
  begin({.kind = HangCause::Kind::stall,
         .rank = check.stall->rank,
         .text = {},
         .seconds = static_cast<double>(now.now_ns - check.stall->since_ns) / ns_in_second});
}

}  // namespace muster::launcher
