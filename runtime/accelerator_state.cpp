#include "accelerator_state.hpp"

#include <muster/control.hpp>
#include <muster/error.hpp>
#include <muster/log.hpp>

#include "compute_dtype.hpp"
#include "data/dispatch/dispatch_hub.hpp"
#include "death_record.hpp"
#include "stack_report.hpp"

#include <algorithm>
#include <chrono>
#include <mutex>
#include <set>
#include <sstream>
#include <utility>

namespace muster {
namespace {

template <class Given, class Kept>
void add(std::vector<GivenValue>& values, const char* id, const std::optional<Given>& given,
         Kept (*keep)(const Given&)) {
  if (given) values.push_back({id, Value(keep(*given)), ""});
}

/// "csv,html" in its words.
std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> words;
  std::istringstream rest(list);
  for (std::string word; std::getline(rest, word, ',');) words.push_back(word);
  return words;
}

std::vector<GivenValue> given_in_code(const AcceleratorOptions& options) {
  constexpr auto text = +[](const std::string& value) { return value; };
  std::vector<GivenValue> values;
  add(
      values, "train.gradient_accumulation_steps", options.gradient_accumulation_steps,
      +[](const int& value) { return std::int64_t{value}; });
  add(values, "train.strategy", options.strategy, text);
  add(values, "train.communicator", options.communicator, text);
  add(values, "train.mixed_precision", options.mixed_precision, text);
  add(
      values, "train.log_with", options.log_with,
      +[](const std::string& names) { return split(names); });
  add(values, "train.project_dir", options.project_dir, text);
  add(
      values, "train.seed", options.seed, +[](const std::int64_t& value) { return value; });
  add(
      values, "train.bucket_mb", options.bucket_mb, +[](const double& value) { return value; });
  add(
      values, "train.sync_batch_norm", options.sync_batch_norm,
      +[](const bool& value) { return value; });
  add(
      values, "train.debug", options.debug, +[](const bool& value) { return value; });
  add(
      values, "launch.comm_timeout", options.comm_timeout,
      +[](const Seconds& value) { return value.count(); });
  return values;
}

/// Once a process, for each Accelerator would say the same.
void tell_once(LogLevel level, const std::string& line) {
  static std::mutex mutex;
  static std::set<std::string> told;
  const std::lock_guard lock(mutex);
  if (told.insert(line).second) log(level, line);
}

/// Makes the group over which batches are sent out when a loader first asks for it.
std::function<std::shared_ptr<DispatchHub>()> hub_maker(const std::shared_ptr<Mesh>& mesh) {
  return [mesh = std::weak_ptr(mesh), hub = std::shared_ptr<DispatchHub>()]() mutable {
    if (hub) return hub;
    const auto joined = mesh.lock();
    if (!joined) throw CommunicationError("the Accelerator has left the other ranks");
    auto& group = *joined->group("data");
    return hub = std::make_shared<DispatchHub>(group.split(0, group.rank()));
  };
}

LogLevel level_named(const std::string& name) {
  if (name == "debug") return LogLevel::debug;
  if (name == "warning") return LogLevel::warning;
  if (name == "error") return LogLevel::error;
  return name == "off" ? LogLevel::off : LogLevel::info;
}

}  // namespace

AcceleratorState::AcceleratorState(const AcceleratorOptions& given)
    : options(given),
      world(World::from_environment(current_environment())),
      settings(resolve_in_rank(current_environment(), given_in_code(given))),
      strategy(strategy_name(settings.settings().train.strategy)),
      dtype(compute_dtype(settings.settings().train.mixed_precision)),
      scaler(std::make_shared<GradScaler>(given.grad_scaler, dtype == at::kHalf)) {
  const auto& resolved = settings.settings();
  configure_log(level_named(resolved.log.level), world.size > 1 ? world.rank : -1);
  record_death();
  report_stacks();
  world.timeout = std::chrono::ceil<std::chrono::milliseconds>(resolved.launch.comm_timeout);
  session = Session::join(world, resolved.train.communicator, resolved.train.debug);
  device = session->mesh()->world().device();
  require_autocast(resolved.train.mixed_precision, device, [this](const std::string& line) {
    if (world.rank == 0) tell_once(LogLevel::warning, line);
  });
  loop->dispatch_hub = hub_maker(session->mesh());
  if (world.rank == 0) {
    for (const auto& line : settings.overruled_by_code()) tell_once(LogLevel::warning, line);
    // A program does and says the same alone and as the only rank of a launch.
    tell_once(world.size > 1 ? LogLevel::info : LogLevel::debug, headline(*this));
  }
  Control::instance().ready();
}

const std::shared_ptr<Mesh>& AcceleratorState::mesh() const {
  if (!session) {
    throw CommunicationError("the Accelerator has left the other ranks in end_training()");
  }
  return session->mesh();
}

Communicator& AcceleratorState::data_group() const { return *mesh()->group("data"); }

std::shared_ptr<Communicator> AcceleratorState::norm_group() {
  if (!norms) norms = data_group().split(0, data_group().rank());
  return norms;
}

StrategyOptions AcceleratorState::strategy_options() const {
  const auto& train = settings.settings().train;
  StrategyOptions chosen;
  chosen.bucket_bytes = static_cast<std::int64_t>(train.bucket_mb * 1024 * 1024);
  chosen.first_bucket_bytes = std::min(chosen.first_bucket_bytes, chosen.bucket_bytes);
  chosen.mixed_precision = train.mixed_precision;
  chosen.scaled_loss = scaler->enabled();
  return chosen;
}

std::unique_ptr<Strategy> AcceleratorState::new_strategy() const {
  return make_strategy(settings.settings().train.strategy, mesh(), strategy_options());
}

std::unique_ptr<Strategy> AcceleratorState::new_replica() const {
  return make_replica(mesh(), strategy_options());
}

void AcceleratorState::abort(const std::string& reason) const {
  // Groups that were split off the world do not end with it.
  if (norms) norms->abort(reason);
  mesh()->world().abort(reason);
}

void AcceleratorState::rejoin() {
  norms.reset();
  session.reset();
  const auto& train = settings.settings().train;
  session = Session::join(world, train.communicator, train.debug);
  loop->dispatch_hub = hub_maker(session->mesh());
}

std::string headline(const AcceleratorState& state) {
  const auto plural = [](int count, const char* word) {
    return std::to_string(count) + ' ' + word + (count == 1 ? "" : "s");
  };
  const auto& world = state.mesh()->world();
  const auto& precision = state.settings.settings().train.mixed_precision;
  return std::string(state.strategy) + " over " + plural(world.size(), "rank") + " on " +
         plural(state.world.node_count, "host") + " (" + std::string(world.name()) + "), " +
         world.device().str() + ", " + (state.dtype ? precision : "fp32");
}

}  // namespace muster
