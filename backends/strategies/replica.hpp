#pragma once

#include <muster/strategy.hpp>

#include <memory>
#include <string>

namespace muster {

/// A model that is used and not trained, such as a teacher: rank 0's weights on every rank, no
/// buckets, no gradients. Micro-steps of other models pass it by; what would train it throws
/// ModelError.
class Replica final : public Strategy {
 public:
  Replica(const std::shared_ptr<Mesh>& mesh, StrategyOptions options);

  std::string_view name() const noexcept override { return "replica"; }
  int stage() const noexcept override { return 0; }
  void prepare(ModelParts parts) override;
  void attach(torch::optim::Optimizer& optimizer) override;
  void detach(torch::optim::Optimizer& /*optimizer*/) noexcept override {}
  void begin_forward() override {}
  void begin_micro_step(bool /*synchronise*/) override {}
  void weigh(double /*count*/) override {}
  void begin_backward(double /*scale*/) override {}
  void end_backward() noexcept override {}
  void end_micro_step() override {}
  void synchronise() override {}
  bool in_window() const noexcept override { return false; }
  bool gradients_ready() const noexcept override { return false; }
  double clip_grad_norm(double max_norm, double norm_type,
                        const std::vector<at::Tensor>& only) override;
  void clip_grad_value(double value) override;
  bool unscale(const torch::optim::Optimizer* /*optimizer*/) override { return true; }
  bool gradients_finite(const torch::optim::Optimizer& /*optimizer*/) const override {
    return true;
  }
  void trace_non_finite(bool /*on*/) override {}
  NonFinite find_non_finite(const torch::optim::Optimizer& /*optimizer*/) override { return {}; }
  bool fuses(const torch::optim::Optimizer& /*optimizer*/) const override { return false; }
  bool before_step(torch::optim::Optimizer& optimizer) override;
  void update(torch::optim::Optimizer& optimizer) override;
  void after_step(torch::optim::Optimizer& optimizer) override;
  void zero_grad(torch::optim::Optimizer* optimizer) override;
  void discard_gradients() override { zero_grad(nullptr); }
  std::vector<Layout> layouts() const override;
  const StrategyCounters& counters() const noexcept override { return counters_; }

 private:
  std::shared_ptr<Communicator> group_;
  StrategyOptions options_;
  ModelParts parts_;
  StrategyCounters counters_;
};

}  // namespace muster
