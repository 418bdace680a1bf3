#pragma once

#include "flat_model.hpp"
#include "gradient_window.hpp"
#include "update_rule.hpp"

#include <ATen/core/Tensor.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace muster {

/// A parameter that an optimizer updates.
struct OwnedSlot {
  std::size_t slot = 0;
  std::size_t group = 0;  ///< Of the optimizer.
};

/// Runs a rule over flat slices of a model's parameters, gradients and state. The state's memory is
/// flat and ours; the user's optimizer holds windows over it, so that what it does and saves by
/// itself stays right. State that it was given elsewhere (loaded, made by its own step) is copied
/// in when it is seen.
class FusedUpdate {
 public:
  /// owned: by slot. `optimizer` must outlive this.
  FusedUpdate(const FlatModel& model, std::vector<OwnedSlot> owned,
              torch::optim::Optimizer& optimizer, const UpdateRule& rule);

  /// One step of the parameters that have a gradient.
  void step(const GradientWindow& window);

 private:
  /// Neighbouring slots of a bucket that are updated alike.
  struct Run {
    std::size_t first = 0, last = 0;  ///< Slots, both included.
    std::size_t group = 0;
    bool fresh = false;
    std::array<bool, max_states> states{};  ///< Used with the present options.
    std::int64_t step = 0;                  ///< Of the update under way.
  };
  /// Runs that one call of the rule takes.
  struct Batch {
    std::size_t group = 0;
    std::vector<std::size_t> runs;
    UpdateSlices slices;
    std::vector<at::Tensor>
        wide_gradients;  ///< To be cast into slices.gradients; empty if dtypes agree.
  };

  std::vector<Run> plan_runs(const GradientWindow& window);
  Run begin_slot(const OwnedSlot& owned);
  bool adopt(std::size_t slot, std::size_t index, at::Tensor& tensor);
  at::Tensor state_flat(std::size_t bucket, std::size_t index);
  void build_batches(const GradientBuffers& gradients);
  void add_slices(Batch& batch, const Run& run, const GradientBuffers& gradients);
  static bool same_cut(const std::vector<Run>& a, const std::vector<Run>& b);

  const FlatModel& model_;
  std::vector<OwnedSlot> owned_;
  torch::optim::Optimizer& optimizer_;
  const UpdateRule& rule_;
  std::array<std::vector<at::Tensor>, max_states>
      flats_;                      ///< Per state and bucket; undefined until needed.
  std::vector<at::Tensor> casts_;  ///< Per bucket: gradients in the parameters' dtype.
  std::vector<Run> runs_;
  std::vector<Batch> batches_;
};

}  // namespace muster
