#include <muster/error.hpp>
#include <muster/processes.hpp>

#include "accelerator_state.hpp"
#include "collectives.hpp"

#include <cstdio>
#include <exception>

namespace muster {

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

void Processes::local_main_process_first(const std::function<void()>& work) const {
  const auto first = local_main_process_first();
  work();
}

std::int64_t Processes::length_of(const at::Tensor& tensor) {
  if (tensor.defined() && tensor.dim() > 0) return tensor.size(0);
  throw ConfigError("split_between_processes takes tensors that have rows");
}

void Processes::require_equal(const std::vector<std::pair<std::string, std::int64_t>>& lengths) {
  for (const auto& [name, length] : lengths) {
    if (length == lengths.front().second) continue;
    throw ConfigError("split_between_processes of a map: '" + lengths.front().first + "' has " +
                      std::to_string(lengths.front().second) + " items and '" + name + "' " +
                      std::to_string(length) + "; all must have as many");
  }
}

bool Processes::is_process(int index) const {
  if (index >= 0 && index < num_processes()) return index == process_index();
  throw ConfigError("on_process: no rank " + std::to_string(index) + "; there are ranks 0 to " +
                    std::to_string(num_processes() - 1));
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
