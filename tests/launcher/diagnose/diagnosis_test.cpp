// When ranks are looked at, and what becomes of those who wait for it.

#include "diagnose/diagnosis.hpp"

#include "supervise/kernel.hpp"

#include <catch2/catch_test_macros.hpp>

#include <chrono>
#include <deque>
#include <functional>
#include <string>
#include <vector>

namespace muster::launcher {
namespace {

using Kind = HangCause::Kind;
using std::chrono::milliseconds;

/// Two ranks without processes, so that there is nothing to read.
class FakeJob {
 public:
  explicit FakeJob(std::optional<std::chrono::nanoseconds> hang_timeout = std::nullopt)
      : diagnosis_(loop_,
                   {.facts = [this] { return facts(); },
                    .tell = [this](const HangFacts& facts) { told.push_back(facts.cause.kind); },
                    .answer = [this](std::size_t rank) { answered.push_back(rank); },
                    .ask_for_stacks = [this](std::size_t rank) { asked.push_back(rank); },
                    .stalled = [this](const HangCause& cause) { stalled.push_back(cause.rank); }},
                   hang_timeout),
        timer_(loop_.timer()) {
    for (int rank = 0; rank < 2; ++rank) {
      RankState state;
      state.rank = rank;
      state.ready = true;
      state.note = ControlNote{};
      state.note->step = 1;
      ranks.push_back(std::move(state));
    }
  }

  /// Waits until `condition` holds, at most for very long, and then does `then`.
  struct Step {
    std::function<bool()> condition;
    std::function<void()> then = [] {};
  };
  void run(const std::vector<Step>& steps) {
    constexpr int most_looks = 4000;
    for (const Step& step : steps) steps_.push_back(step);
    look(most_looks);
    loop_.run();
    REQUIRE(steps_.empty());
  }

  Diagnosis& diagnosis() { return diagnosis_; }

  std::vector<RankState> ranks;
  std::vector<Kind> told;
  std::vector<std::size_t> answered, asked;
  std::vector<int> stalled;

 private:
  HangFacts facts() const {
    HangFacts facts;
    facts.now_ns = monotonic_ns();
    facts.world_size = 2;
    facts.ranks = ranks;
    return facts;
  }
  void look(int looks) {
    timer_->set(milliseconds(5), [this, looks] {
      while (!steps_.empty() && steps_.front().condition()) {
        steps_.front().then();
        steps_.pop_front();
      }
      if (steps_.empty() || looks == 0) {
        loop_.stop();
      } else {
        look(looks - 1);
      }
    });
  }

  EventLoop loop_;
  Diagnosis diagnosis_;
  std::unique_ptr<EventLoop::Timer> timer_;
  std::deque<Step> steps_;
};

ControlMessage stuck(const std::string& reason) {
  return {ControlMessage::Kind::stuck, 1, 0, reason, ""};
}

TEST_CASE(
    "steps that stand still are told of though ranks were just looked at for another reason") {
  FakeJob job(milliseconds(20));
  job.diagnosis().heard(0, stuck("lost"));  // It is waited for the end of the one that is missed.
  const auto start = monotonic_ns();
  job.run({{[&] { return monotonic_ns() - start > 200'000'000; },
            [&] {
              CHECK(job.stalled.empty());
              job.ranks[1].ended = true;
            }},
           {[&] { return !job.stalled.empty(); }}});
  CHECK(job.told == std::vector{Kind::lost, Kind::stall});
  CHECK(job.answered == std::vector<std::size_t>{0});
}

TEST_CASE("who asks is answered though the job is being ended meanwhile") {
  FakeJob job;
  job.diagnosis().heard(0, stuck("lost"));
  job.diagnosis().asked();
  job.diagnosis().ending();
  CHECK(job.answered == std::vector<std::size_t>{0});
  job.run({{[&] { return !job.told.empty(); }}});
  CHECK(job.told == std::vector{Kind::asked});
}

TEST_CASE("only ranks that answer, and could not be read, are asked for their stacks") {
  FakeJob job;
  job.ranks[0].unread = job.ranks[1].unread = "a reason";
  job.ranks[0].tells_stack = true;
  job.diagnosis().asked();
  job.run({{[&] { return !job.told.empty(); }}});
  CHECK(job.asked == std::vector<std::size_t>{0});
}

TEST_CASE("ranks that are stuck in the same way are told of once, and all are answered") {
  FakeJob job;
  job.diagnosis().heard(0, stuck("deadline"));
  job.diagnosis().heard(1, stuck("deadline"));
  job.run({{[&] { return job.answered.size() == 2; },
            [&] {
              job.diagnosis().heard(0, stuck("deadline"));
              CHECK(job.answered.size() == 3);
              CHECK(job.told == std::vector{Kind::deadline});
              job.ranks[0].note->step = 2;
              job.diagnosis().heard(0, stuck("deadline"));
            }},
           {[&] { return job.answered.size() == 4; }}});
  CHECK(job.told == std::vector{Kind::deadline, Kind::deadline});
}

}  // namespace
}  // namespace muster::launcher
