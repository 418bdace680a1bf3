#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <memory>
#include <vector>

namespace muster {

/// Who hears of gradients. Called inside backward, on the thread that runs it; what it throws ends
/// the backward.
class GradientListener {
 public:
  virtual ~GradientListener() = default;
  /// A gradient is about to be added to the .grad of parameter `index`.
  virtual void before_accumulation(std::size_t index) = 0;
  /// It was; the user's own hooks have run.
  virtual void after_accumulation(std::size_t index) = 0;
};

/// Our hooks on a list of leaves, beside those of the user. The destructor takes them out.
class GradientHooks {
 public:
  GradientHooks(std::vector<at::Tensor> parameters, GradientListener& listener);
  ~GradientHooks();
  GradientHooks(const GradientHooks&) = delete;
  GradientHooks& operator=(const GradientHooks&) = delete;

  /// LibTorch has one place a tensor for hooks after accumulation: where the user's program has put
  /// one over ours, ours goes around it.
  void refresh();

 private:
  struct Link;
  void wrap(std::size_t index);

  std::vector<at::Tensor> parameters_;
  std::vector<unsigned> before_;  ///< Positions in the tensors' lists of hooks.
  std::shared_ptr<Link> link_;
};

}  // namespace muster
