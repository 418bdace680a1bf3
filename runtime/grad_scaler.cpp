#include <muster/grad_scaler.hpp>

#include <algorithm>
#include <cmath>
#include <sstream>

namespace muster {
namespace {

/// 1 / scale, too, is a float with all its bits.
constexpr double largest_scale = 0x1p126;

template <class Number>
void require(bool good, const char* name, Number value, const char* expected) {
  if (good) return;
  std::ostringstream text;
  text << "grad scaler: " << name << " = " << value << ": expected " << expected;
  throw ConfigError(text.str());
}

bool is_scale(double value) { return value > 0 && value <= largest_scale; }

}  // namespace

GradScaler::GradScaler(const GradScalerOptions& options, bool enabled)
    : options_(options), state_{options.init_scale, 0}, enabled_(enabled) {
  const auto& o = options_;
  require(is_scale(o.init_scale), "init_scale", o.init_scale, "a number above 0");
  require(is_scale(o.min_scale) && o.min_scale <= o.init_scale, "min_scale", o.min_scale,
          "a number above 0 and at most init_scale");
  require(o.growth_factor >= 1 && std::isfinite(o.growth_factor), "growth_factor", o.growth_factor,
          "a number of at least 1");
  require(o.backoff_factor > 0 && o.backoff_factor < 1, "backoff_factor", o.backoff_factor,
          "a number between 0 and 1");
  require(o.growth_interval >= 1, "growth_interval", o.growth_interval,
          "a whole number of at least 1");
  require(o.max_skips >= 1, "max_skips", o.max_skips, "a whole number of at least 1");
}

void GradScaler::load_state(const GradScalerState& state) {
  require(is_scale(state.scale), "the state's scale", state.scale, "a number above 0");
  require(state.growth_tracker >= 0, "the state's growth_tracker", state.growth_tracker,
          "a whole number of at least 0");
  state_ = state;
}

void GradScaler::update(bool finite) {
  if (!enabled_) return;
  if (!finite) {
    // A loaded scale may lie below the floor; it does not rise for that.
    const double floor = std::min(options_.min_scale, state_.scale);
    state_ = {std::max(floor, state_.scale * options_.backoff_factor), 0};
  } else if (++state_.growth_tracker >= options_.growth_interval) {
    const double grown = state_.scale * options_.growth_factor;
    state_ = {grown <= largest_scale ? grown : state_.scale, 0};
  }
}

}  // namespace muster
