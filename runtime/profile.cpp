#include <muster/error.hpp>
#include <muster/profile.hpp>

#include <torch/csrc/autograd/profiler_kineto.h>

#include <atomic>
#include <set>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace muster {
namespace {

namespace profiler = torch::autograd::profiler;
using torch::profiler::impl::ActivityType;

std::atomic<bool>& in_use() noexcept {
  static std::atomic<bool> used{false};
  return used;
}

std::set<ActivityType> activities() {
  std::set<ActivityType> result{ActivityType::CPU};
  if (torch::profiler::impl::cudaStubs()->enabled()) result.insert(ActivityType::CUDA);
  return result;
}

profiler::ProfilerConfig config_of(const ProfileOptions& options) {
  return profiler::ProfilerConfig(profiler::ProfilerState::KINETO, options.shapes, options.memory,
                                  /*with_stack=*/false, options.flops);
}

}  // namespace

Profile::Profile(const Ranks& ranks, ProfileOptions options)
    : rank_(ranks.process_index()), options_(std::move(options)) {
  const auto& given = options_;
  if (given.wait < 0 || given.warmup < 0 || given.active < 0 || given.repeat < 0) {
    throw ConfigError("Profile: wait, warmup, active and repeat are 0 or more");
  }
  if (given.active == 0 && (given.wait > 0 || given.warmup > 0)) {
    throw ConfigError("Profile: wait and warmup need a number of active steps");
  }
  if (in_use().exchange(true)) {
    throw ConfigError("Profile: another one of this process is running; finish() it first");
  }
  try {
    std::filesystem::create_directories(options_.folder);
    enter(0);
  } catch (...) {
    in_use() = false;
    throw;
  }
}

Profile::~Profile() { drop(); }

void Profile::step() {
  if (finished_ || options_.active == 0) return;
  const int length = options_.wait + options_.warmup + options_.active;
  if (++step_ == length) {
    write();
    step_ = 0;
    if (options_.repeat > 0 && cycle_ >= options_.repeat) return drop();
  }
  enter(step_);
}

/// Step `step` of the schedule begins.
void Profile::enter(int step) {
  if (options_.warmup > 0 && step == options_.wait) {
    profiler::prepareProfiler(config_of(options_), activities());
  }
  if (step != options_.wait + options_.warmup) return;
  if (options_.warmup == 0) profiler::prepareProfiler(config_of(options_), activities());
  profiler::enableProfiler(config_of(options_), activities());
  recording_ = true;
}

void Profile::finish() {
  if (recording_) write();
  drop();
}

void Profile::write() {
  recording_ = false;
  const auto result = profiler::disableProfiler();
  ++cycle_;
  const bool several = options_.active > 0 && options_.repeat != 1;
  const auto path = options_.folder / ("profile_" + std::to_string(rank_) +
                                       (several ? "_" + std::to_string(cycle_) : "") + ".json");
  auto unfinished = path;
  unfinished += "." + std::to_string(getpid()) + ".new.json";
  result->save(unfinished.string());
  std::error_code trouble;
  std::filesystem::rename(unfinished, path, trouble);
  if (trouble) throw Error(path.string() + ": the trace cannot be written: " + trouble.message());
  files_.push_back(path);
}

void Profile::drop() noexcept {
  if (finished_) return;
  finished_ = true;
  if (recording_) {
    recording_ = false;
    try {
      (void)profiler::disableProfiler();
    } catch (const std::exception&) {
      // What was recorded is lost, as was asked.
    }
  }
  in_use() = false;
}

}  // namespace muster
