#include "collectives.hpp"

#include <muster/error.hpp>
#include <muster/tensor_text.hpp>

#include "packed.hpp"
#include "signature.hpp"

#include <ATen/ops/cat.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <c10/core/GradMode.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

namespace muster::collectives {
namespace {

/// Without history, and with the values that a lazy conjugate or negative stands for.
at::Tensor values_of(const at::Tensor& tensor) {
  return tensor.detach().resolve_conj().resolve_neg();
}

/// [n, ...], contiguous; a 0-dim tensor as [1].
at::Tensor rows_of(const at::Tensor& tensor) {
  const auto rows = values_of(tensor).contiguous();
  return rows.dim() == 0 ? rows.unsqueeze(0) : rows;
}

/// Nothing if they are not equally many.
std::optional<std::int64_t> rows_of_a_sample(const at::Tensor& tensor, std::int64_t samples) {
  if (!tensor.defined() || tensor.dim() == 0 || samples < 1) return std::nullopt;
  if (tensor.size(0) % samples != 0) return std::nullopt;
  return tensor.size(0) / samples;
}

/// The dtype in which a sum of `dtype` is formed.
at::ScalarType sum_dtype(at::ScalarType dtype) {
  if (dtype == at::kHalf || dtype == at::kBFloat16) return at::kFloat;
  return at::isIntegralType(dtype, /*includeBool=*/true) ? at::kLong : dtype;
}

/// What reduce() returns for a tensor of `dtype`.
at::ScalarType reduced_dtype(at::ScalarType dtype, bool mean) {
  if (!at::isIntegralType(dtype, /*includeBool=*/true)) return dtype;
  if (mean) return at::kFloat;
  return dtype == at::kBool ? at::kLong : dtype;
}

/// `text` of rank `from`, on all ranks.
std::string broadcast_text(Communicator& group, std::string text, int from,
                           std::string_view label) {
  if (group.size() == 1) return text;
  const bool mine = group.rank() == from;
  auto length = at::full({1}, mine ? static_cast<std::int64_t>(text.size()) : 0, at::kLong);
  group.broadcast(length, from, label).wait();
  auto bytes = at::empty({length.item<std::int64_t>()}, at::kByte);
  if (bytes.numel() == 0) return {};
  if (mine) std::memcpy(bytes.mutable_data_ptr(), text.data(), text.size());
  group.broadcast(bytes, from, label).wait();
  return {static_cast<const char*>(bytes.const_data_ptr()),
          static_cast<std::size_t>(bytes.numel())};
}

/// Never empty.
std::string what_of(const std::exception_ptr& exception) {
  std::string text;
  try {
    std::rethrow_exception(exception);
  } catch (const c10::Error& error) {
    text = error.what_without_backtrace();
  } catch (const std::exception& error) {
    text = error.what();
  } catch (...) {
    text = "it threw something that is no std::exception";
  }
  return text.empty() ? "an error without a text" : text;
}

std::vector<at::Tensor> rows_of_all(const std::vector<TensorLeaf>& leaves) {
  std::vector<at::Tensor> rows;
  for (const auto& leaf : leaves) rows.push_back(rows_of(leaf.tensor));
  return rows;
}

void require_all_same(const std::vector<std::vector<Signature>>& signatures, Compared compared) {
  for (const auto& ranks : signatures) require_same(ranks, compared);
}

ReduceOp op_named(std::string_view reduction) {
  if (reduction == "sum" || reduction == "mean") return ReduceOp::sum;
  if (reduction == "max") return ReduceOp::max;
  if (reduction == "min") return ReduceOp::min;
  throw ConfigError("reduce: no reduction '" + std::string(reduction) +
                    "'; there are sum, mean, max, min");
}

/// A copy that may be overwritten, of the dtype in which `op` is formed.
at::Tensor operand_of(const at::Tensor& tensor, ReduceOp op) {
  const auto dtype = tensor.scalar_type();
  if (at::isFloat8Type(dtype)) {
    throw ConfigError("reduce of " + describe_tensor(tensor) + ": convert it to float32 first");
  }
  if (op != ReduceOp::sum && at::isComplexType(dtype)) {
    throw ConfigError("reduce of " + describe_tensor(tensor) +
                      ": complex numbers have a sum and a mean, no max or min");
  }
  return values_of(tensor)
      .to(op == ReduceOp::sum ? sum_dtype(dtype) : dtype, /*non_blocking=*/false, /*copy=*/true)
      .contiguous();
}

at::Tensor mean_of(at::Tensor sum, int ranks, at::ScalarType dtype) {
  if (at::isIntegralType(dtype, /*includeBool=*/true)) sum = sum.to(at::kDouble);
  return sum.div_(ranks).to(reduced_dtype(dtype, /*mean=*/true));
}

at::Tensor padded(const at::Tensor& tensor, const std::vector<Signature>& signatures,
                  const Padding& padding) {
  const auto dims = tensor.dim();
  if (padding.dim < -dims || padding.dim >= std::max<std::int64_t>(dims, 1)) {
    throw ConfigError("pad_across_processes: no dimension " + std::to_string(padding.dim) +
                      " in a tensor with " + std::to_string(dims));
  }
  if (dims == 0) return values_of(tensor).clone();
  const auto dim = padding.dim < 0 ? padding.dim + dims : padding.dim;
  std::int64_t longest = 0;
  for (const auto& signature : signatures) {
    longest = std::max(longest, signature.shape[static_cast<std::size_t>(dim)]);
  }
  // constant_pad_nd takes (before, after) of the last dimension first.
  std::vector<std::int64_t> amounts(static_cast<std::size_t>(2 * (dims - dim)), 0);
  amounts[amounts.size() - (padding.first ? 2 : 1)] = longest - tensor.size(dim);
  return at::constant_pad_nd(values_of(tensor), amounts, padding.value).contiguous();
}

[[noreturn]] void refuse_repeated(const std::string& label, const at::Tensor& tensor,
                                  const BatchSamples& batch) {
  throw ConfigError(
      label + " of " + describe_tensor(tensor) + " in a batch that was completed to " +
      std::to_string(batch.here) +
      " samples: which rows belong to repeated samples cannot be told; give one row, or equally "
      "many, a sample, before anything is averaged");
}

}  // namespace

std::vector<at::Tensor> gather(Communicator& group, const std::vector<TensorLeaf>& leaves,
                               bool uneven) {
  const c10::NoGradGuard no_grad;
  const std::string label = uneven ? "gather_uneven" : "gather";
  const auto signatures = exchange(group, label, leaves);
  require_all_same(signatures, uneven ? Compared::row_shape : Compared::shape);
  return all_gather_rows(group, rows_of_all(leaves), signatures, label);
}

std::vector<at::Tensor> gather_for_metrics(Communicator& group, std::vector<TensorLeaf> leaves,
                                           const BatchSamples& batch) {
  const c10::NoGradGuard no_grad;
  const std::string label = "gather_for_metrics";
  std::vector<std::optional<std::int64_t>> rows;
  for (auto& leaf : leaves) {
    if (batch.real < 0) break;
    rows.push_back(rows_of_a_sample(leaf.tensor, batch.here));
    // Ranks must agree: the rows to leave out are the last of all.
    leaf.note =
        " with " + (rows.back() ? std::to_string(*rows.back()) : "unequal") + " rows a sample";
  }
  const auto signatures = exchange(group, label, leaves);
  require_all_same(signatures, Compared::row_shape);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!rows[i]) refuse_repeated(label, leaves[i].tensor, batch);
  }
  auto all = all_gather_rows(group, rows_of_all(leaves), signatures, label);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    all[i] = all[i].narrow(0, 0, std::min(all[i].size(0), batch.real * *rows[i]));
  }
  return all;
}

at::Tensor real_rows(const at::Tensor& tensor, int rank, const BatchSamples& batch) {
  if (batch.real < 0) return tensor;
  const auto rows = rows_of_a_sample(tensor, batch.here);
  if (!rows) refuse_repeated("real_rows", tensor, batch);
  // A batch that was completed has as many samples on each rank.
  const auto real = std::clamp<std::int64_t>(batch.real - rank * batch.here, 0, batch.here);
  return tensor.narrow(0, 0, real * *rows);
}

std::vector<at::Tensor> reduce(Communicator& group, const std::vector<TensorLeaf>& leaves,
                               std::string_view reduction) {
  const c10::NoGradGuard no_grad;
  require_all_same(exchange(group, "reduce " + std::string(reduction), leaves), Compared::shape);
  const auto op = op_named(reduction);
  std::vector<at::Tensor> results;
  for (const auto& leaf : leaves) results.push_back(operand_of(leaf.tensor, op));
  all_reduce_packed(group, results, op, "reduce");
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    const auto dtype = leaves[i].tensor.scalar_type();
    if (reduction == "mean") {
      results[i] = mean_of(results[i], group.size(), dtype);
    } else if (op == ReduceOp::sum) {
      results[i] = results[i].to(reduced_dtype(dtype, /*mean=*/false));
    }
  }
  return results;
}

void broadcast(Communicator& group, const std::vector<TensorLeaf>& leaves, int from) {
  const c10::NoGradGuard no_grad;
  require_all_same(exchange(group, "broadcast from rank " + std::to_string(from), leaves),
                   Compared::shape);
  require_rank(group, "broadcast", from);
  std::vector<at::Tensor> contiguous;
  for (const auto& leaf : leaves) contiguous.push_back(values_of(leaf.tensor).contiguous());
  broadcast_packed(group, contiguous, from, "broadcast");
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    const auto data = leaves[i].tensor.detach();
    if (contiguous[i].is_same(data) || contiguous[i].data_ptr() == data.data_ptr()) continue;
    data.copy_(contiguous[i]);
  }
}

std::vector<at::Tensor> pad(Communicator& group, const std::vector<TensorLeaf>& leaves,
                            const Padding& padding) {
  const c10::NoGradGuard no_grad;
  const auto signatures =
      exchange(group, "pad_across_processes in dimension " + std::to_string(padding.dim), leaves);
  require_all_same(signatures, Compared::rank_and_dtype);
  std::vector<at::Tensor> results;
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    results.push_back(padded(leaves[i].tensor, signatures[i], padding));
  }
  return results;
}

void require_rank(const Communicator& group, std::string_view operation, int rank) {
  if (rank >= 0 && rank < group.size()) return;
  throw ConfigError(std::string(operation) + ": no rank " + std::to_string(rank) +
                    "; there are ranks 0 to " + std::to_string(group.size() - 1));
}

at::Tensor append_rows(const at::Tensor& rows, const at::Tensor& row, std::int64_t times) {
  auto shape = row.sizes().vec();
  shape.front() = times;
  return at::cat({rows, row.expand(shape)});
}

Outcome run_on_rank_0(Communicator& group, std::string_view label,
                      const std::function<void()>& work) {
  Outcome outcome;
  if (group.rank() == 0) {
    try {
      work();
    } catch (...) {
      outcome.exception = std::current_exception();
      outcome.failure = what_of(outcome.exception);
    }
  }
  outcome.failure = broadcast_text(group, std::move(outcome.failure), 0, label);
  return outcome;
}

}  // namespace muster::collectives
