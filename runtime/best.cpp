#include <muster/best.hpp>
#include <muster/error.hpp>
#include <muster/replace_file.hpp>

#include "collectives.hpp"
#include "internals.hpp"
#include "signature.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <sstream>
#include <utility>

namespace muster {
namespace {

/// Rank 0's, on all ranks.
double decided(const Ranks& ranks, double value, std::string_view operation) {
  std::int64_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  bits = collectives::exchange_numbers(Internals::of(ranks).data_group(), operation, bits).front();
  std::memcpy(&value, &bits, sizeof bits);
  return value;
}

bool is_better(double value, double than, Better better) {
  return better == Better::lower ? value < than : value > than;
}

}  // namespace

EarlyStopping::EarlyStopping(const Ranks& ranks, const EarlyStoppingOptions& options)
    : ranks_(ranks), options_(options) {
  if (options.patience < 0 || !(options.min_delta >= 0)) {
    throw ConfigError("EarlyStopping: patience and min_delta are 0 or more");
  }
}

bool EarlyStopping::should_stop(double value) {
  value = decided(ranks_, value, "EarlyStopping");
  const double delta = options_.better == Better::lower ? -options_.min_delta : options_.min_delta;
  const bool progress =
      !std::isnan(value) && (std::isnan(best_) || is_better(value, best_ + delta, options_.better));
  without_ = progress ? 0 : without_ + 1;
  if (progress) best_ = value;
  return without_ > options_.patience;
}

std::string EarlyStopping::state() const {
  std::ostringstream text;
  text << std::hexfloat << best_ << ' ' << without_;
  return text.str();
}

void EarlyStopping::load_state(const std::string& state) {
  // Streams do not read what they write of hexadecimal numbers.
  char* rest = nullptr;
  const double best = std::strtod(state.c_str(), &rest);
  std::istringstream words(rest);
  int without = -1;
  if (rest == state.c_str() || !(words >> without) || without < 0) {
    throw CheckpointError("EarlyStopping: the state is damaged: '" + state + "'");
  }
  best_ = best;
  without_ = without;
}

BestCheckpoints::BestCheckpoints(const Ranks& ranks, std::filesystem::path folder, int most,
                                 Better better)
    : ranks_(ranks),
      folder_(std::move(folder)),
      most_(static_cast<std::size_t>(std::max(most, 0))),
      better_(better) {
  if (most < 1) throw ConfigError("BestCheckpoints: keeps 1 or more");
  std::string text;
  if (ranks_.is_main_process()) {
    std::ifstream file(folder_ / "best.json", std::ios::binary);
    text.assign(std::istreambuf_iterator<char>(file), {});
  }
  text = ranks_.broadcast_object(text);
  if (text.empty()) return;
  try {
    for (const auto& entry : nlohmann::json::parse(text)) {
      kept_.push_back({entry.at("name").get<std::string>(), entry.at("value").get<double>()});
    }
  } catch (const nlohmann::json::exception&) {
    throw CheckpointError((folder_ / "best.json").string() + " is no list of checkpoints");
  }
}

bool BestCheckpoints::offer(double value, const std::string& name,
                            const std::function<void(const std::filesystem::path&)>& save) {
  value = decided(ranks_, value, "BestCheckpoints");
  if (!std::isfinite(value)) return false;
  if (kept_.size() >= most_ && !is_better(value, kept_.back().value, better_)) return false;
  for (const auto& other : kept_) {
    if (other.name != name) continue;
    throw ConfigError("BestCheckpoints: there is a checkpoint '" + name + "' already");
  }
  if (ranks_.is_main_process()) std::filesystem::create_directories(folder_);
  save(folder_ / name);
  const auto place = std::ranges::find_if(
      kept_, [&](const Kept& other) { return is_better(value, other.value, better_); });
  kept_.insert(place, {name, value});
  std::vector<Kept> removed;
  for (; kept_.size() > most_; kept_.pop_back()) removed.push_back(kept_.back());
  if (!ranks_.is_main_process()) return true;
  // The list first: what it names is always there.
  write_list();
  for (const auto& one : removed) std::filesystem::remove_all(path(one));
  return true;
}

void BestCheckpoints::write_list() const {
  auto list = nlohmann::json::array();
  for (const auto& [name, value] : kept_) list.push_back({{"name", name}, {"value", value}});
  replace_file(folder_ / "best.json", list.dump(1) + '\n');
}

}  // namespace muster
