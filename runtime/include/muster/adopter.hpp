#pragma once

#include <muster/loop_state.hpp>
#include <muster/model.hpp>
#include <muster/optimizer.hpp>
#include <muster/scheduler.hpp>
#include <muster/scheduler_source.hpp>

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace torch::nn {
class Module;
}

namespace muster {

struct AcceleratorState;

/// Takes the objects of one call of prepare() over for its Accelerator. An object that was prepared
/// before gives the same again.
class Adopter {
 public:
  explicit Adopter(std::shared_ptr<AcceleratorState> state) : state_(std::move(state)) {}

  ModelHandle adopt(std::shared_ptr<torch::nn::Module> module) const;
  ModelHandle adopt(const torch::jit::Module& module) const;
  /// Models from here on are used and not trained.
  void evaluate() noexcept { evaluation_ = true; }
  Optimizer adopt(std::shared_ptr<torch::optim::Optimizer> optimizer);
  /// Throws ModelError if its optimizer is not prepared.
  Scheduler adopt(const Scheduler& scheduler) const;
  /// Of the only optimizer of this call, else of the Accelerator; a torch::optim::LRScheduler has
  /// its own. Throws ModelError if that leaves a choice, or none.
  Scheduler adopt(SchedulerSource source) const;

  /// What a data loader needs to read this rank's part.
  struct Part {
    int index, count;
    std::shared_ptr<LoopState> loop;
    at::Device device;
    std::int64_t seed;
  };
  Part part() const;
  /// Says once what it costs that the batches of another loader are dealt to the ranks.
  void note_dealt(bool own_part) const;

 private:
  std::vector<std::shared_ptr<PreparedOptimizer>> known_optimizers() const;
  std::shared_ptr<PreparedOptimizer> optimizer_for(const SchedulerSource& source) const;

  std::shared_ptr<AcceleratorState> state_;
  bool evaluation_ = false;
  std::vector<std::shared_ptr<PreparedOptimizer>> optimizers_;  ///< Of this call.
};

}  // namespace muster
