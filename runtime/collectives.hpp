#pragma once

#include <muster/communicator.hpp>

#include <ATen/core/Tensor.h>

#include <string>
#include <string_view>
#include <vector>

/// What Accelerator offers on tensors, for any group. All ranks of the group call the same; first
/// they compare what they were called with, so that a difference is a ModelError on all of them and
/// not a wait in vain.
namespace muster::collectives {

/// tensor: [n, ...], or 0-dim for [1]; returns [size * n, ...].
at::Tensor gather(Communicator& group, const at::Tensor& tensor);
/// The same of ranks that may differ in their first dimension.
at::Tensor gather_rows(Communicator& group, const at::Tensor& tensor);
at::Tensor reduce(Communicator& group, const at::Tensor& tensor, std::string_view reduction);
at::Tensor broadcast(Communicator& group, at::Tensor tensor, int from);

struct Padding {
  std::int64_t dim = 0;
  double value = 0;
  bool first = false;
};
at::Tensor pad(Communicator& group, const at::Tensor& tensor, const Padding& padding);

/// rows [n, ...] with `row` [1, ...] after it, `times` times. No communication.
at::Tensor append_rows(const at::Tensor& rows, const at::Tensor& row, std::int64_t times);

/// `text` of rank `from`, on all ranks.
std::string broadcast_text(Communicator& group, std::string text, int from, std::string_view label);

}  // namespace muster::collectives
