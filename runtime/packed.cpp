#include "packed.hpp"

#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <numeric>

namespace muster::collectives {
namespace {

std::int64_t rows_in(const Signature& signature) {
  return signature.shape.empty() ? 1 : signature.shape.front();
}

std::int64_t row_bytes(const at::Tensor& rows) {
  const auto sizes = rows.sizes().slice(1);
  return std::accumulate(sizes.begin(), sizes.end(), rows.element_size(), std::multiplies<>());
}

at::Tensor packed(const std::vector<at::Tensor>& tensors) {
  if (tensors.size() == 1) return bytes_of(tensors.front());
  std::vector<at::Tensor> bytes;
  for (const auto& tensor : tensors) bytes.push_back(bytes_of(tensor));
  return at::cat(bytes);
}

/// Room for the rows of all ranks.
std::vector<at::Tensor> results_for(const std::vector<at::Tensor>& rows,
                                    const std::vector<std::vector<Signature>>& signatures) {
  std::vector<at::Tensor> results;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    auto shape = rows[i].sizes().vec();
    shape.front() = 0;
    for (const auto& signature : signatures[i]) shape.front() += rows_in(signature);
    results.push_back(at::empty(shape, rows[i].options()));
  }
  return results;
}

/// Takes each tensor's rows of each rank out of `all`, which has one rank after the other.
void unpack(const at::Tensor& all, const std::vector<at::Tensor>& results,
            const std::vector<std::vector<Signature>>& signatures) {
  std::vector<std::int64_t> filled(results.size(), 0);
  std::int64_t taken = 0;
  for (std::size_t rank = 0; rank < signatures.front().size(); ++rank) {
    for (std::size_t i = 0; i < results.size(); ++i) {
      const auto bytes = rows_in(signatures[i][rank]) * row_bytes(results[i]);
      bytes_of(results[i]).narrow(0, filled[i], bytes).copy_(all.narrow(0, taken, bytes));
      filled[i] += bytes;
      taken += bytes;
    }
  }
}

}  // namespace

at::Tensor bytes_of(const at::Tensor& contiguous) { return contiguous.reshape(-1).view(at::kByte); }

std::vector<at::Tensor> all_gather_rows(Communicator& group, const std::vector<at::Tensor>& rows,
                                        const std::vector<std::vector<Signature>>& signatures,
                                        std::string_view label) {
  if (rows.empty()) return {};
  auto results = results_for(rows, signatures);
  std::vector<std::int64_t> counts(static_cast<std::size_t>(group.size()), 0);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (std::size_t rank = 0; rank < counts.size(); ++rank) {
      counts[rank] += rows_in(signatures[i][rank]) * row_bytes(rows[i]);
    }
  }
  const auto total = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
  if (total == 0) return results;
  if (std::ranges::adjacent_find(counts, std::not_equal_to<>()) == counts.end()) counts.clear();
  const auto mine = packed(rows);
  const bool alone = rows.size() == 1;
  const auto all = alone ? bytes_of(results.front()) : at::empty({total}, mine.options());
  group.all_gather(all, mine, counts, label).wait();
  if (!alone) unpack(all, results, signatures);
  return results;
}

void broadcast_packed(Communicator& group, const std::vector<at::Tensor>& tensors, int from,
                      std::string_view label) {
  if (tensors.empty()) return;
  const auto all = packed(tensors);
  if (all.numel() == 0) return;
  group.broadcast(all, from, label).wait();
  if (tensors.size() == 1) return;
  std::int64_t taken = 0;
  for (const auto& tensor : tensors) {
    const auto bytes = bytes_of(tensor);
    bytes.copy_(all.narrow(0, taken, bytes.numel()));
    taken += bytes.numel();
  }
}

void all_reduce_packed(Communicator& group, const std::vector<at::Tensor>& tensors, ReduceOp op,
                       std::string_view label) {
  // Ordered by dtype, so that all ranks take them in the same order.
  std::map<at::ScalarType, std::vector<at::Tensor>> by_dtype;
  for (const auto& tensor : tensors) {
    if (tensor.numel() > 0) by_dtype[tensor.scalar_type()].push_back(tensor.reshape(-1));
  }
  for (const auto& [dtype, parts] : by_dtype) {
    if (parts.size() == 1) {
      group.all_reduce(parts.front(), op, label).wait();
      continue;
    }
    const auto all = at::cat(parts);
    group.all_reduce(all, op, label).wait();
    std::int64_t taken = 0;
    for (const auto& part : parts) {
      part.copy_(all.narrow(0, taken, part.numel()));
      taken += part.numel();
    }
  }
}

}  // namespace muster::collectives
