#pragma once

#include <muster/loop_state.hpp>
#include <muster/model.hpp>
#include <muster/optimizer.hpp>

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <utility>

namespace torch::nn {
class Module;
}

namespace muster {

struct AcceleratorState;

/// Takes objects over for one Accelerator. An object that was prepared before gives the same again.
class Adopter {
 public:
  explicit Adopter(std::shared_ptr<AcceleratorState> state) : state_(std::move(state)) {}

  ModelHandle adopt(std::shared_ptr<torch::nn::Module> module) const;
  ModelHandle adopt(const torch::jit::Module& module) const;
  Optimizer adopt(std::shared_ptr<torch::optim::Optimizer> optimizer) const;

  /// What a data loader needs to read this rank's part.
  struct Part {
    int index, count;
    std::shared_ptr<LoopState> loop;
    at::Device device;
    std::int64_t seed;
  };
  Part part() const;

 private:
  std::shared_ptr<AcceleratorState> state_;
};

}  // namespace muster
