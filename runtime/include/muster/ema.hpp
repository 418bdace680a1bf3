#pragma once

#include <muster/model.hpp>
#include <muster/optimizer.hpp>

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace muster {

struct EmaOptions {
  double decay = 0.999;
  /// The decay of the n-th update is at most (1 + n) / (10 + n), so that the first weights fade.
  bool warm_up = false;
};

/// A moving average of a model's weights, which often do better than the last ones. Buffers are
/// copied as they are. No member communicates: ranks with the same weights have the same average.
class Ema {
 public:
  /// Begins with the weights as they are. Throws ConfigError for a decay out of [0, 1],
  /// UnsupportedError for a model that is sharded over ranks.
  explicit Ema(const ModelHandle& model, const EmaOptions& options = {});

  /// After optimizer.step(). Counts if that made an update since the last call: not on micro-steps
  /// that only accumulate, nor if the step was skipped.
  void update(const Optimizer& optimizer);
  std::int64_t updates() const noexcept { return updates_; }

  /// The model has the average as long as this lives, then its own weights again.
  class [[nodiscard]] Applied {
   public:
    explicit Applied(Ema& ema);
    ~Applied();
    Applied(const Applied&) = delete;
    Applied& operator=(const Applied&) = delete;

   private:
    std::vector<at::Tensor> weights_, own_;
  };
  Applied apply() { return Applied(*this); }

  /// The averages by name, and "ema.updates": to save, and to go on from.
  std::map<std::string, at::Tensor> state() const;
  /// Throws CheckpointError, before anything was changed, unless names and shapes are the model's.
  void load_state(const std::map<std::string, at::Tensor>& state);

 private:
  ModelHandle model_;
  EmaOptions options_;
  std::vector<std::string> names_;
  std::vector<at::Tensor> weights_, averages_;  ///< Floating ones.
  std::int64_t updates_ = 0;
  std::uint64_t seen_ = 0;  ///< Of the optimizer's steps.
};

}  // namespace muster
