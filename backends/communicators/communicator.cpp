#include <muster/communicator.hpp>
#include <muster/error.hpp>

#include "communicators/arguments.hpp"

#include <ATen/ops/empty.h>

#include <algorithm>
#include <string>
#include <utility>

namespace muster {
namespace {

Operation make(Operation::Kind kind, at::Tensor output, at::Tensor input) {
  Operation operation;
  operation.kind = kind;
  operation.output = std::move(output);
  operation.input = std::move(input);
  return operation;
}

}  // namespace

Communicator::Communicator(int rank, int size, at::Device device, std::chrono::milliseconds timeout)
    : rank_(rank), size_(size), device_(device), timeout_(timeout) {
  if (size < 1 || rank < 0 || rank >= size) {
    throw ConfigError("no rank " + std::to_string(rank) + " in a group of " + std::to_string(size));
  }
}

Communicator::~Communicator() = default;

Work Communicator::all_reduce(at::Tensor tensor, ReduceOp op, std::string_view label) {
  auto input = tensor;
  return all_reduce(std::move(tensor), std::move(input), op, label);
}

Work Communicator::all_reduce(at::Tensor output, at::Tensor input, ReduceOp op,
                              std::string_view label) {
  auto operation = make(Operation::Kind::all_reduce, std::move(output), std::move(input));
  operation.op = op;
  return submit(std::move(operation), label);
}

Work Communicator::all_reduce_mean(at::Tensor tensor, std::int64_t divided, double count,
                                   std::string_view label) {
  auto input = tensor;
  auto operation = make(Operation::Kind::all_reduce, std::move(tensor), std::move(input));
  operation.divided = divided;
  operation.count = count;
  return submit(std::move(operation), label);
}

Work Communicator::reduce_scatter(at::Tensor output, at::Tensor input,
                                  const ReduceScatterOptions& options, std::string_view label) {
  auto operation = make(Operation::Kind::reduce_scatter, std::move(output), std::move(input));
  operation.op = options.op;
  operation.accumulate = options.accumulate;
  operation.input_counts.assign(options.counts.begin(), options.counts.end());
  return submit(std::move(operation), label);
}

Work Communicator::all_gather(at::Tensor output, at::Tensor input,
                              std::span<const std::int64_t> counts, std::string_view label) {
  auto operation = make(Operation::Kind::all_gather, std::move(output), std::move(input));
  operation.output_counts.assign(counts.begin(), counts.end());
  return submit(std::move(operation), label);
}

Work Communicator::broadcast(at::Tensor tensor, int root, std::string_view label) {
  auto input = tensor;
  auto operation = make(Operation::Kind::broadcast, std::move(tensor), std::move(input));
  operation.peer = root;
  return submit(std::move(operation), label);
}

Work Communicator::all_to_all(at::Tensor output, at::Tensor input,
                              std::span<const std::int64_t> output_counts,
                              std::span<const std::int64_t> input_counts, std::string_view label) {
  auto operation = make(Operation::Kind::all_to_all, std::move(output), std::move(input));
  operation.output_counts.assign(output_counts.begin(), output_counts.end());
  operation.input_counts.assign(input_counts.begin(), input_counts.end());
  return submit(std::move(operation), label);
}

Work Communicator::send(at::Tensor tensor, int peer, int tag, std::string_view label) {
  auto operation = make(Operation::Kind::send, {}, std::move(tensor));
  operation.peer = peer;
  operation.tag = tag;
  return submit(std::move(operation), label);
}

Work Communicator::receive(at::Tensor tensor, int peer, int tag, std::string_view label) {
  auto operation = make(Operation::Kind::receive, std::move(tensor), {});
  operation.peer = peer;
  operation.tag = tag;
  return submit(std::move(operation), label);
}

Work Communicator::barrier(std::string_view label) {
  return submit(make(Operation::Kind::barrier, {}, {}), label);
}

at::Tensor Communicator::allocate(std::int64_t numel, at::ScalarType dtype) {
  return at::empty({numel}, at::TensorOptions().dtype(dtype).device(device_));
}

std::unique_ptr<Communicator> Communicator::subgroup(std::span<const int> ranks) {
  const auto here = std::find(ranks.begin(), ranks.end(), rank_);
  if (here == ranks.end()) {
    throw ConfigError("subgroup: rank " + std::to_string(rank_) +
                      " asks for a group that it is not in");
  }
  return split(ranks.front(), static_cast<int>(here - ranks.begin()));
}

Work Communicator::submit(Operation operation, std::string_view label) {
  operation.label = label;
  check_arguments(operation, {rank_, size_, device_});
  const std::lock_guard lock(mutex_);
  operation.sequence = ++sequence_;
  auto pending = start(std::move(operation));
  return pending ? Work(std::move(pending), timeout_) : Work();
}

}  // namespace muster
