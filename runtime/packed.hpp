#pragma once

#include <muster/communicator.hpp>

#include "signature.hpp"

#include <ATen/core/Tensor.h>

#include <string_view>
#include <vector>

/// Several tensors moved in one communication, as bytes: transports need not know their dtypes.
namespace muster::collectives {

/// The memory of a contiguous tensor [bytes].
at::Tensor bytes_of(const at::Tensor& contiguous);

/// rows: [n, ...], contiguous; signatures: of each on all ranks, which may differ in n. Returns
/// [sum of n, ...] of each.
std::vector<at::Tensor> all_gather_rows(Communicator& group, const std::vector<at::Tensor>& rows,
                                        const std::vector<std::vector<Signature>>& signatures,
                                        std::string_view label);

/// Overwrites contiguous tensors with those of rank `from`.
void broadcast_packed(Communicator& group, const std::vector<at::Tensor>& tensors, int from,
                      std::string_view label);

/// Reduces contiguous tensors in place, those of one dtype in one communication.
void all_reduce_packed(Communicator& group, const std::vector<at::Tensor>& tensors, ReduceOp op,
                       std::string_view label);

}  // namespace muster::collectives
