#include <muster/operation.hpp>

#include <algorithm>

namespace muster {

std::uint64_t Operation::bytes() const {
  const auto size = [](const at::Tensor& tensor) {
    return tensor.defined() ? static_cast<std::uint64_t>(tensor.nbytes()) : 0;
  };
  return std::max(size(output), size(input));
}

std::string_view to_string(Operation::Kind kind) noexcept {
  switch (kind) {
    case Operation::Kind::all_reduce:
      return "all_reduce";
    case Operation::Kind::reduce_scatter:
      return "reduce_scatter";
    case Operation::Kind::all_gather:
      return "all_gather";
    case Operation::Kind::broadcast:
      return "broadcast";
    case Operation::Kind::all_to_all:
      return "all_to_all";
    case Operation::Kind::send:
      return "send";
    case Operation::Kind::receive:
      return "receive";
    case Operation::Kind::barrier:
      return "barrier";
  }
  return "?";
}

std::string_view to_string(ReduceOp op) noexcept {
  switch (op) {
    case ReduceOp::sum:
      return "sum";
    case ReduceOp::product:
      return "product";
    case ReduceOp::min:
      return "min";
    case ReduceOp::max:
      return "max";
  }
  return "?";
}

}  // namespace muster
