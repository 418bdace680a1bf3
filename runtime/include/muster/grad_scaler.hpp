#pragma once

#include <muster/error.hpp>

#include <cstdint>

namespace muster {

/// How the scale of an fp16 loss moves. Powers of two keep numbers equal to those without a scale.
struct GradScalerOptions {
  double init_scale = 65536;
  double growth_factor = 2;     ///< After growth_interval steps in a row with finite gradients.
  double backoff_factor = 0.5;  ///< After a step with others, which is skipped.
  int growth_interval = 2000;
  double min_scale = 1;  ///< It does not fall below.
  /// As many steps in a row that one optimizer skips are a NonFiniteError: 16 halvings take the
  /// scale from 65536 to 1.
  int max_skips = 20;
};

/// What a GradScaler was at; of plain numbers, equal on all ranks.
struct GradScalerState {
  double scale = 1;
  std::int64_t growth_tracker = 0;  ///< Steps in a row with finite gradients, since it last grew.
  bool operator==(const GradScalerState&) const = default;
};

/// One optimizer's steps were skipped `max_skips` times in a row, on all ranks.
class NonFiniteError : public Error {
 public:
  using Error::Error;
};

/// The scale of the loss of an Accelerator: one for all its models and optimizers, moved by each
/// optimizer step that is due.
class GradScaler {
 public:
  /// Throws ConfigError for an option that cannot be.
  explicit GradScaler(const GradScalerOptions& options = {}, bool enabled = true);

  /// Losses are scaled: fp16.
  bool enabled() const noexcept { return enabled_; }
  double scale() const noexcept { return enabled_ ? state_.scale : 1; }
  const GradScalerOptions& options() const noexcept { return options_; }
  GradScalerState state() const noexcept { return state_; }
  /// On all ranks the same. Throws ConfigError for a scale that is not above 0 and finite, or a
  /// tracker below 0.
  void load_state(const GradScalerState& state);
  /// A step was due. The Accelerator's optimizers call it.
  void update(bool finite);

 private:
  GradScalerOptions options_;
  GradScalerState state_;
  bool enabled_;
};

}  // namespace muster
