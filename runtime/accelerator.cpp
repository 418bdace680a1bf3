#include <muster/accelerator.hpp>
#include <muster/error.hpp>
#include <muster/split.hpp>

#include "accelerator_state.hpp"
#include "collectives.hpp"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <limits>
#include <utility>

namespace muster {

Accelerator::Accelerator(const AcceleratorOptions& options)
    : state_(std::make_shared<AcceleratorState>(options)) {}
Accelerator::~Accelerator() = default;
Accelerator::Accelerator(Accelerator&&) noexcept = default;
Accelerator& Accelerator::operator=(Accelerator&&) noexcept = default;

double Accelerator::clip_grad_norm(const ModelHandle& model, double max_norm, double norm_type) {
  auto& prepared = *model.prepared_;
  if (!prepared.synchronises) return std::numeric_limits<double>::quiet_NaN();
  return prepared.strategy->clip_grad_norm(max_norm, norm_type, {});
}

void Accelerator::clip_grad_value(const ModelHandle& model, double value) {
  auto& prepared = *model.prepared_;
  if (!prepared.synchronises) return;
  prepared.strategy->clip_grad_value(value);
}

at::Tensor Accelerator::gather(const at::Tensor& tensor) const {
  return collectives::gather(state_->data_group(), tensor);
}

at::Tensor Accelerator::gather_for_metrics(const at::Tensor& tensor) const {
  const auto real = state_->loop->real_samples(), samples = state_->loop->samples();
  if (real >= 0 && tensor.defined() && tensor.dim() == 0) {
    throw ConfigError(
        "gather_for_metrics of a 0-dim tensor, but this batch was completed with samples that "
        "are in it already and would count twice: gather one row a sample, then reduce");
  }
  auto rows = collectives::gather_rows(state_->data_group(), tensor);
  if (real < 0) return rows;
  if (samples < 1 || tensor.size(0) % samples != 0) {
    throw ConfigError(
        "gather_for_metrics of " + std::to_string(tensor.size(0)) +
        " rows in a batch that was completed to " + std::to_string(samples) +
        " samples: which rows belong to repeated samples cannot be told; give one row, "
        "or equally many, a sample");
  }
  return rows.narrow(0, 0, std::min(rows.size(0), real * (tensor.size(0) / samples)));
}

at::Tensor Accelerator::reduce(const at::Tensor& tensor, std::string_view reduction) const {
  return collectives::reduce(state_->data_group(), tensor, reduction);
}

at::Tensor Accelerator::broadcast(at::Tensor tensor, int from) const {
  return collectives::broadcast(state_->data_group(), std::move(tensor), from);
}

at::Tensor Accelerator::pad_across_processes(const at::Tensor& tensor, std::int64_t dim,
                                             double value, bool pad_first) const {
  return collectives::pad(state_->data_group(), tensor, {dim, value, pad_first});
}

at::Tensor Accelerator::split_between_processes(const at::Tensor& tensor, bool padding) const {
  if (!tensor.defined() || tensor.dim() == 0) {
    throw ConfigError("split_between_processes takes a tensor that has rows");
  }
  const auto part = split_range(tensor.size(0), process_index(), num_processes());
  auto mine = tensor.narrow(0, part.begin, part.end - part.begin);
  const auto missing = part.longest - mine.size(0);
  if (!padding || missing == 0) return mine;
  return collectives::append_rows(mine, tensor.narrow(0, tensor.size(0) - 1, 1), missing);
}

void Accelerator::wait_for_everyone(std::string_view label) const {
  state_->mesh()->world().barrier(label).wait();
}

void Accelerator::main_process_first(const std::function<void()>& work) const {
  std::exception_ptr failure;
  std::string reason;
  if (is_main_process()) {
    try {
      work();
    } catch (const std::exception& error) {
      failure = std::current_exception();
      reason = std::string("rank 0 failed in main_process_first: ") + error.what();
    }
  }
  auto& world = state_->mesh()->world();
  reason = collectives::broadcast_text(world, std::move(reason), 0, "main_process_first");
  if (failure) std::rethrow_exception(failure);
  if (!reason.empty()) throw Error(reason);
  if (!is_main_process()) work();
}

int Accelerator::process_index() const noexcept { return state_->world.rank; }
int Accelerator::local_process_index() const noexcept { return state_->world.local_rank; }
int Accelerator::num_processes() const noexcept { return state_->world.size; }
at::Device Accelerator::device() const noexcept { return state_->device; }
int Accelerator::gradient_accumulation_steps() const noexcept {
  return state_->settings.settings().train.gradient_accumulation_steps;
}

void Accelerator::write_line(std::string line) {
  line += '\n';
  std::fwrite(line.data(), 1, line.size(), stdout);
  std::fflush(stdout);
}

Progress Accelerator::progress(std::string title, std::int64_t total, std::string unit) const {
  ProgressOptions options;
  options.enabled = is_main_process();
  options.unit = std::move(unit);
  return {std::move(title), total, std::move(options)};
}

void Accelerator::free_memory() {
  state_->scopes.clear();
  state_->optimizers.clear();
  state_->models.clear();
}

void Accelerator::end_training() {
  wait_for_everyone("end_training");
  free_memory();
  state_->session.reset();
}

}  // namespace muster
