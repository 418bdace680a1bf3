#include <muster/error.hpp>
#include <muster/processes.hpp>

#include "accelerator_state.hpp"
#include "collectives.hpp"

#include <cstdio>
#include <exception>

namespace muster {

int Processes::process_index() const noexcept { return state_->world.rank; }
int Processes::local_process_index() const noexcept { return state_->world.local_rank; }
int Processes::num_processes() const noexcept { return state_->world.size; }
at::Device Processes::device() const noexcept { return state_->device; }

at::Tensor Processes::gather(const at::Tensor& tensor) const {
  return collectives::gather(state_->data_group(), tensor);
}

at::Tensor Processes::gather_for_metrics(const at::Tensor& tensor) const {
  const auto& loop = *state_->loop;
  return collectives::gather_for_metrics(state_->data_group(), tensor,
                                         {loop.real_samples(), loop.samples()});
}

at::Tensor Processes::reduce(const at::Tensor& tensor, std::string_view reduction) const {
  return collectives::reduce(state_->data_group(), tensor, reduction);
}

at::Tensor Processes::broadcast(at::Tensor tensor, int from) const {
  return collectives::broadcast(state_->data_group(), std::move(tensor), from);
}

at::Tensor Processes::pad_across_processes(const at::Tensor& tensor, std::int64_t dim, double value,
                                           bool pad_first) const {
  return collectives::pad(state_->data_group(), tensor, {dim, value, pad_first});
}

at::Tensor Processes::split_between_processes(const at::Tensor& tensor, bool padding) const {
  if (!tensor.defined() || tensor.dim() == 0) {
    throw ConfigError("split_between_processes takes a tensor that has rows");
  }
  const auto part = split_range(tensor.size(0), process_index(), num_processes());
  auto mine = tensor.narrow(0, part.begin, part.end - part.begin);
  const auto missing = part.longest - mine.size(0);
  if (!padding || missing == 0) return mine;
  return collectives::append_rows(mine, tensor.narrow(0, tensor.size(0) - 1, 1), missing);
}

void Processes::wait_for_everyone(std::string_view label) const {
  state_->mesh()->world().barrier(label).wait();
}

void Processes::main_process_first(const std::function<void()>& work) const {
  const Busy guard("main_process_first");
  const auto outcome =
      collectives::run_on_rank_0(state_->mesh()->world(), "main_process_first", work);
  if (outcome.exception) std::rethrow_exception(outcome.exception);
  if (!outcome.failure.empty()) {
    throw Error("rank 0 failed in main_process_first: " + outcome.failure);
  }
  if (!is_main_process()) work();
}

void Processes::write_line(std::string line) {
  line += '\n';
  std::fwrite(line.data(), 1, line.size(), stdout);
  std::fflush(stdout);
}

Progress Processes::progress(std::string title, std::int64_t total, std::string unit) const {
  ProgressOptions options;
  options.enabled = is_main_process();
  options.unit = std::move(unit);
  return {std::move(title), total, std::move(options)};
}

}  // namespace muster
