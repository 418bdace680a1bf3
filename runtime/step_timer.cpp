#include <muster/error.hpp>
#include <muster/step_timer.hpp>

#include "progress_line.hpp"

#include <ATen/ops/tensor.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <limits>
#include <sstream>
#include <utility>

namespace muster {
namespace {

constexpr double nanoseconds = 1e-9;

double seconds_since_1970() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

struct Part {
  const char* name;
  double StepTime::*seconds;
};
constexpr std::array<Part, 4> parts{{{"data", &StepTime::data},
                                     {"compute", &StepTime::compute},
                                     {"communication", &StepTime::communication},
                                     {"update", &StepTime::update}}};

StepTime mean_of(const std::vector<StepTime>& ranks) {
  StepTime mean;
  for (const auto& [name, seconds] : parts) {
    for (const auto& rank : ranks) mean.*seconds += rank.*seconds;
    mean.*seconds /= static_cast<double>(ranks.size());
  }
  return mean;
}

/// Where the slow rank is most behind the mean.
std::string reason(const StepTime& slow, const StepTime& mean) {
  const Part* most = nullptr;
  for (const auto& part : parts) {
    if (part.seconds == &StepTime::communication) continue;
    if (most == nullptr ||
        slow.*part.seconds - mean.*part.seconds > slow.*most->seconds - mean.*most->seconds) {
      most = &part;
    }
  }
  return most->name;
}

}  // namespace

StepTimer::StepTimer(const Ranks& ranks, StepTimerOptions options)
    : ranks_(ranks),
      options_(std::move(options)),
      begin_(Clock::now()),
      spent_(time_spent()),
      first_start_(seconds_since_1970()) {}

void StepTimer::step(std::int64_t samples, bool skipped) {
  const auto now = Clock::now();
  const auto spent = time_spent();
  const double total = std::chrono::duration<double>(now - begin_).count();
  last_.data = nanoseconds * static_cast<double>(spent.data - spent_.data);
  last_.communication =
      nanoseconds * static_cast<double>(spent.communication - spent_.communication);
  last_.update = nanoseconds * static_cast<double>(spent.update - spent_.update);
  last_.compute = std::max(0.0, total - last_.data - last_.communication - last_.update);
  for (const auto& part : parts) sum_.*part.seconds += last_.*part.seconds;
  if (!skipped) useful_ += total;
  ++steps_;
  samples_ += samples;
  begin_ = now;
  spent_ = spent;
}

double StepTimer::useful_share() const {
  const double all = seconds_since_1970() - first_start_;
  return all > 0 ? std::min(1.0, useful_ / all) : 1;
}

StepReport StepTimer::report() {
  const auto mine = at::tensor(
      {sum_.data, sum_.compute, sum_.communication, sum_.update, static_cast<double>(samples_)},
      at::kDouble);
  const auto all = ranks_.gather(mine.to(ranks_.device())).cpu();
  const auto* values = all.const_data_ptr<double>();
  StepReport report;
  report.steps = steps_;
  double samples = 0;
  for (int rank = 0; rank < ranks_.num_processes(); ++rank, values += 5) {
    report.ranks.push_back({values[0], values[1], values[2], values[3]});
    samples += values[4];
  }
  const auto slowest =
      std::ranges::max_element(report.ranks, {}, [](const StepTime& rank) { return rank.own(); });
  report.slowest = static_cast<int>(slowest - report.ranks.begin());
  const auto mean = mean_of(report.ranks);
  report.slowest_because = reason(*slowest, mean);
  report.samples_per_second = mean.total() > 0 ? samples / mean.total() : 0;
  const double peak = options_.peak_flops * ranks_.num_processes();
  report.utilisation = options_.flops_per_sample > 0 && peak > 0
                           ? report.samples_per_second * options_.flops_per_sample / peak
                           : std::numeric_limits<double>::quiet_NaN();
  report.useful = useful_share();
  sum_ = {};
  steps_ = samples_ = 0;
  return report;
}

std::string StepTimer::state() const {
  std::ostringstream text;
  text.precision(std::numeric_limits<double>::max_digits10);
  text << first_start_ << ' ' << useful_;
  return text.str();
}

void StepTimer::load_state(const std::string& state) {
  std::istringstream words(state);
  double first = 0, useful = 0;
  if (!(words >> first >> useful) || !(first > 0) || !(useful >= 0)) {
    throw CheckpointError("StepTimer: the state is damaged: '" + state + "'");
  }
  first_start_ = first;
  useful_ = useful;
}

std::string StepReport::to_text() const {
  const auto mean = mean_of(ranks);
  const double total = mean.total();
  char number[64];
  std::snprintf(number, sizeof number,
                "%.4g ms a step:", steps > 0 ? 1000 * total / static_cast<double>(steps) : 0.0);
  std::string text = number;
  for (const auto& [name, seconds] : parts) {
    std::snprintf(number, sizeof number, "%s %s %.1f %%", &seconds == &parts[0].seconds ? "" : ",",
                  name, total > 0 ? 100 * mean.*seconds / total : 0.0);
    text += number;
  }
  if (ranks.size() > 1) {
    text += "; slowest is rank " + std::to_string(slowest) + " (" + slowest_because + ")";
  }
  if (samples_per_second > 0) text += "; " + si_number(samples_per_second) + " samples/s";
  if (!std::isnan(utilisation)) {
    std::snprintf(number, sizeof number, "; %.1f %% of the peak", 100 * utilisation);
    text += number;
  }
  return text;
}

std::vector<LoggedItem> StepReport::to_log() const {
  const auto mean = mean_of(ranks);
  const double count = std::max<double>(1, static_cast<double>(steps));
  std::vector<LoggedItem> items;
  for (const auto& [name, seconds] : parts) {
    items.push_back({std::string("time/") + name, mean.*seconds / count});
  }
  items.push_back({"time/slowest_rank", slowest});
  items.push_back({"time/samples_per_second", samples_per_second});
  items.push_back({"time/useful", useful});
  if (!std::isnan(utilisation)) items.push_back({"time/utilisation", utilisation});
  return items;
}

}  // namespace muster
