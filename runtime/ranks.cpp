#include <muster/ranks.hpp>
#include <muster/split.hpp>

#include "accelerator_state.hpp"
#include "collectives.hpp"
#include "signature.hpp"

#include <algorithm>

namespace muster {
namespace {

collectives::BatchSamples batch_of(const AcceleratorState& state) {
  return {state.loop->real_samples(), state.loop->samples()};
}

}  // namespace

int Ranks::process_index() const noexcept { return state_->world.rank; }
int Ranks::local_process_index() const noexcept { return state_->world.local_rank; }
int Ranks::num_processes() const noexcept { return state_->world.size; }
int Ranks::num_hosts() const noexcept { return state_->world.node_count; }
at::Device Ranks::device() const noexcept { return state_->device; }

at::Tensor Ranks::gather(const at::Tensor& tensor) const {
  return gather_leaves({{"", tensor}}, false).front();
}

at::Tensor Ranks::gather_uneven(const at::Tensor& tensor) const {
  return gather_leaves({{"", tensor}}, true).front();
}

at::Tensor Ranks::gather_for_metrics(const at::Tensor& tensor) const {
  return gather_leaves_for_metrics({{"", tensor}}).front();
}

at::Tensor Ranks::real_rows(const at::Tensor& tensor) const {
  return collectives::real_rows(tensor, process_index(), batch_of(*state_));
}

at::Tensor Ranks::reduce(const at::Tensor& tensor, std::string_view reduction) const {
  return reduce_leaves({{"", tensor}}, reduction).front();
}

at::Tensor Ranks::broadcast(at::Tensor tensor, int from) const {
  broadcast_leaves({{"", tensor}}, from);
  return tensor;
}

at::Tensor Ranks::pad_across_processes(const at::Tensor& tensor, std::int64_t dim, double value,
                                       bool pad_first) const {
  return pad_leaves({{"", tensor}}, dim, value, pad_first).front();
}

at::Tensor Ranks::scatter(const at::Tensor& rows, int from) const {
  std::vector<at::Tensor> parts;
  const bool has_rows = rows.defined() && rows.layout() == at::kStrided && rows.dim() > 0;
  for (int rank = 0; process_index() == from && rank < num_processes(); ++rank) {
    // Something without rows is refused for what it is.
    if (!has_rows) {
      parts.emplace_back();
      continue;
    }
    const auto part = split_range(rows.size(0), rank, num_processes());
    parts.push_back(rows.narrow(0, part.begin, part.end - part.begin));
  }
  return scatter(parts, from);
}

at::Tensor Ranks::scatter(const std::vector<at::Tensor>& parts, int from) const {
  return collectives::scatter(state_->data_group(), parts, from);
}

std::vector<std::string> Ranks::gather_object(std::string_view object) const {
  return collectives::gather_object(state_->data_group(), object);
}

std::string Ranks::broadcast_object(std::string_view object, int from) const {
  return collectives::broadcast_object(state_->data_group(), object, from);
}

void Ranks::set_trigger() noexcept { state_->triggered = true; }

bool Ranks::check_trigger() {
  const auto flags = collectives::exchange_numbers(state_->data_group(), "check_trigger",
                                                   state_->triggered ? 1 : 0);
  state_->triggered = false;
  return std::ranges::any_of(flags, [](std::int64_t flag) { return flag != 0; });
}

Ranks::Tensors Ranks::gather_leaves(const Leaves& leaves, bool uneven) const {
  return collectives::gather(state_->data_group(), leaves, uneven);
}

Ranks::Tensors Ranks::gather_leaves_for_metrics(Leaves leaves) const {
  return collectives::gather_for_metrics(state_->data_group(), std::move(leaves),
                                         batch_of(*state_));
}

Ranks::Tensors Ranks::reduce_leaves(const Leaves& leaves, std::string_view reduction) const {
  return collectives::reduce(state_->data_group(), leaves, reduction);
}

void Ranks::broadcast_leaves(const Leaves& leaves, int from) const {
  collectives::broadcast(state_->data_group(), leaves, from);
}

Ranks::Tensors Ranks::pad_leaves(const Leaves& leaves, std::int64_t dim, double value,
                                 bool pad_first) const {
  return collectives::pad(state_->data_group(), leaves, {dim, value, pad_first});
}

}  // namespace muster
