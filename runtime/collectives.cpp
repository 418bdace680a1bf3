#include "collectives.hpp"

#include <muster/error.hpp>
#include <muster/tensor_text.hpp>

#include "signature.hpp"

#include <ATen/ops/cat.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <c10/core/GradMode.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <cstring>
#include <functional>
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

/// The memory of a contiguous tensor. Transports need not know its dtype to move it.
at::Tensor bytes_of(const at::Tensor& contiguous) { return contiguous.reshape(-1).view(at::kByte); }

at::Tensor gather_equal(Communicator& group, const at::Tensor& rows, std::string_view label) {
  auto shape = rows.sizes().vec();
  shape.front() *= group.size();
  auto result = at::empty(shape, rows.options());
  if (rows.numel() > 0) group.all_gather(bytes_of(result), bytes_of(rows), label).wait();
  return result;
}

/// Of ranks whose first dimensions are those of `signatures`.
at::Tensor gather_uneven(Communicator& group, const at::Tensor& rows,
                         const std::vector<Signature>& signatures, std::string_view label) {
  std::vector<std::int64_t> counts;
  std::int64_t total = 0;
  for (const auto& signature : signatures) {
    const auto count = signature.shape.empty() ? 1 : signature.shape.front();
    total += count;
    counts.push_back(count);
  }
  if (std::ranges::adjacent_find(counts, std::not_equal_to<>()) == counts.end()) {
    return gather_equal(group, rows, label);
  }
  auto shape = rows.sizes().vec();
  shape.front() = total;
  auto result = at::empty(shape, rows.options());
  const auto row_bytes = result.numel() / total * result.element_size();
  for (auto& count : counts) count *= row_bytes;
  if (result.numel() > 0) {
    group.all_gather(bytes_of(result), bytes_of(rows), counts, label).wait();
  }
  return result;
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

}  // namespace

at::Tensor gather(Communicator& group, const at::Tensor& tensor) {
  const c10::NoGradGuard no_grad;
  require_same(exchange(group, "gather", tensor), Compared::shape);
  return gather_equal(group, rows_of(tensor), "gather");
}

at::Tensor gather_for_metrics(Communicator& group, const at::Tensor& tensor,
                              const BatchSamples& batch) {
  const c10::NoGradGuard no_grad;
  const std::string label = "gather_for_metrics";
  if (batch.real < 0) {
    const auto signatures = exchange(group, label, tensor);
    require_same(signatures, Compared::row_shape);
    return gather_uneven(group, rows_of(tensor), signatures, label);
  }
  const auto rows = rows_of_a_sample(tensor, batch.here);
  // Ranks must agree: the rows to leave out are the last of all.
  const auto signatures = exchange(
      group, label + " with " + (rows ? std::to_string(*rows) : "unequal") + " rows a sample",
      tensor);
  require_same(signatures, Compared::row_shape);
  if (!rows) {
    throw ConfigError(
        label + " of " + describe_tensor(tensor) + " in a batch that was completed to " +
        std::to_string(batch.here) +
        " samples: which rows belong to repeated samples cannot be told; give one row, or equally "
        "many, a sample, before anything is averaged");
  }
  const auto all = gather_uneven(group, rows_of(tensor), signatures, label);
  return all.narrow(0, 0, std::min(all.size(0), batch.real * *rows));
}

at::Tensor reduce(Communicator& group, const at::Tensor& tensor, std::string_view reduction) {
  const c10::NoGradGuard no_grad;
  require_same(exchange(group, "reduce " + std::string(reduction), tensor), Compared::shape);
  const bool mean = reduction == "mean";
  if (!mean && reduction != "sum") {
    throw ConfigError("reduce: no reduction '" + std::string(reduction) + "'; there are sum, mean");
  }
  const auto dtype = tensor.scalar_type();
  if (at::isFloat8Type(dtype)) {
    throw ConfigError("reduce of " + describe_tensor(tensor) + ": convert it to float32 first");
  }
  auto sum =
      values_of(tensor).to(sum_dtype(dtype), /*non_blocking=*/false, /*copy=*/true).contiguous();
  if (sum.numel() > 0) group.all_reduce(sum, ReduceOp::sum, "reduce").wait();
  if (!mean) return sum.to(reduced_dtype(dtype, mean));
  const auto result = reduced_dtype(dtype, mean);
  if (at::isIntegralType(dtype, /*includeBool=*/true)) sum = sum.to(at::kDouble);
  return sum.div_(group.size()).to(result);
}

at::Tensor broadcast(Communicator& group, at::Tensor tensor, int from) {
  const c10::NoGradGuard no_grad;
  require_same(exchange(group, "broadcast from rank " + std::to_string(from), tensor),
               Compared::shape);
  if (from < 0 || from >= group.size()) {
    throw ConfigError("broadcast: no rank " + std::to_string(from) + "; there are ranks 0 to " +
                      std::to_string(group.size() - 1));
  }
  const auto data = tensor.detach();
  const auto contiguous = values_of(data).contiguous();
  if (data.numel() > 0) group.broadcast(bytes_of(contiguous), from, "broadcast").wait();
  if (!contiguous.is_same(data)) data.copy_(contiguous);
  return tensor;
}

at::Tensor pad(Communicator& group, const at::Tensor& tensor, const Padding& padding) {
  const c10::NoGradGuard no_grad;
  const auto signatures =
      exchange(group, "pad_across_processes in dimension " + std::to_string(padding.dim), tensor);
  require_same(signatures, Compared::rank_and_dtype);
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
