#pragma once

#include <muster/strategy.hpp>

#include "attached_optimizer.hpp"
#include "flat_model.hpp"
#include "gradient_window.hpp"

#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <vector>

namespace muster {

/// Stage 0 of the engine: parameters, gradients and state are whole on every rank.
class DataParallel final : public Strategy {
 public:
  DataParallel(std::shared_ptr<Mesh> mesh, StrategyOptions options);
  ~DataParallel() override;
  DataParallel(const DataParallel&) = delete;
  DataParallel& operator=(const DataParallel&) = delete;

  std::string_view name() const noexcept override { return "ddp"; }
  int stage() const noexcept override { return 0; }
  void prepare(ModelParts parts) override;
  void attach(torch::optim::Optimizer& optimizer) override;
  void detach(torch::optim::Optimizer& optimizer) noexcept override;
  void begin_forward() override;
  void begin_micro_step(bool synchronise) override;
  void weigh(double count) override;
  void begin_backward(double scale) override;
  void end_backward() noexcept override;
  void end_micro_step() override;
  void synchronise() override;
  bool in_window() const noexcept override { return window_ && window_->is_announced(); }
  bool gradients_ready() const noexcept override;
  double clip_grad_norm(double max_norm, double norm_type,
                        const std::vector<at::Tensor>& only) override;
  void clip_grad_value(double value) override;
  bool unscale(const torch::optim::Optimizer* optimizer) override;
  bool gradients_finite(const torch::optim::Optimizer& optimizer) const override;
  void trace_non_finite(bool on) override;
  NonFinite find_non_finite(const torch::optim::Optimizer& optimizer) override;
  bool fuses(const torch::optim::Optimizer& optimizer) const override;
  void update(torch::optim::Optimizer& optimizer) override;
  bool before_step(torch::optim::Optimizer& optimizer) override;
  void after_step(torch::optim::Optimizer& optimizer) override;
  void zero_grad(torch::optim::Optimizer* optimizer) override;
  void discard_gradients() override;
  std::vector<Layout> layouts() const override;
  const StrategyCounters& counters() const noexcept override { return counters_; }

 private:
  void require_prepared() const;
  void broadcast_model();
  /// Once a window, before its first reduction, also on a rank that leaves it without a forward.
  void send_buffers();
  AttachedOptimizer* find(const torch::optim::Optimizer& optimizer) const noexcept;
  AttachedOptimizer& require_attached(const torch::optim::Optimizer& optimizer) const;
  /// Of gradients that were collected. True if all are finite, on all ranks.
  bool unscale_slots(std::span<const std::size_t> slots);
  std::vector<std::size_t> slots_without_optimizer() const;
  bool has_stepped(const torch::optim::Optimizer* optimizer) const;
  bool all_have_stepped() const;
  void close_window();
  /// Closes the window unless its means wait for this step or clip (null).
  void finish_window(const torch::optim::Optimizer* optimizer);

  std::shared_ptr<Mesh> mesh_;
  std::shared_ptr<Communicator> group_;
  StrategyOptions options_;
  StrategyCounters counters_;
  ModelParts parts_;
  std::optional<FlatModel> model_;
  std::optional<GradientWindow> window_;
  std::vector<std::unique_ptr<AttachedOptimizer>> optimizers_;
  std::set<const torch::optim::Optimizer*> stepped_;  ///< On the means of window `stepped_window_`.
  std::uint64_t stepped_window_ = 0;
  std::uint64_t buffers_window_ = ~std::uint64_t{0};  ///< In which buffers were sent last.
};

}  // namespace muster
