#pragma once

#include <muster/strategy.hpp>

#include "bucket_plan.hpp"

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace muster {

/// A model's parameters, those that are trained moved into flat buckets: the user's tensors are
/// windows over them. Knows of no ranks.
class FlatModel {
 public:
  /// Drops repeated tensors. Throws ModelError, naming the parameter, for one that cannot be
  /// trained flat: sparse, complex, not on `device`, or sharing memory with another.
  FlatModel(std::vector<NamedTensor> parameters, c10::Device device,
            const StrategyOptions& options);

  /// In the model's order, each tensor once.
  const std::vector<NamedTensor>& parameters() const noexcept { return parameters_; }
  const std::vector<BucketPlan>& buckets() const noexcept { return plan_.buckets; }
  const std::vector<Slot>& slots() const noexcept { return plan_.slots; }

  const NamedTensor& parameter(const Slot& slot) const { return parameters_[slot.parameter]; }
  const at::Tensor& parameter_of(std::size_t slot) const {
    return parameter(plan_.slots[slot]).tensor;
  }
  const at::Tensor& flat(std::size_t bucket) const { return flats_[bucket]; }  ///< [bucket's numel]
  /// Nothing if it is not one of the trained parameters.
  std::optional<std::size_t> find_slot(const at::Tensor& parameter) const;

  /// Copies the parameters into the buckets and lets them point there. Once.
  void move_in();
  /// Throws ModelError, naming the first, if a parameter's storage, dtype, shape or requires_grad
  /// is no longer as it was prepared.
  void require_unchanged() const;

 private:
  struct Prepared {
    const void* storage;
    std::vector<std::int64_t> sizes;
    c10::ScalarType dtype;
    bool requires_grad;
  };
  void remember();

  std::vector<NamedTensor> parameters_;
  std::vector<Prepared> prepared_;
  Plan plan_;
  std::vector<at::Tensor> flats_;
  std::unordered_map<const void*, std::size_t> slot_of_;
};

}  // namespace muster
