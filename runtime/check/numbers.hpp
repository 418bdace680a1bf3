#pragma once

#include <muster/reduce_op.hpp>

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace muster::check {

/// Values that every rank can work out for every other, so that each knows what a collective has to
/// give. They are of very different sizes, so that sums in another order have other bits, and small
/// whole numbers for integers.
class Numbers {
 public:
  /// Those of rank `rank`: [numel], on the CPU.
  at::Tensor of(int rank, std::int64_t numel, at::ScalarType dtype);
  /// Those of ranks 0 to size - 1.
  std::vector<at::Tensor> of_all(int size, std::int64_t numel, at::ScalarType dtype);

 private:
  struct Base {
    at::Tensor fractions;  ///< float64 [longest so far]
    at::Tensor wholes;     ///< int64 [longest so far]
  };
  const Base& base(int rank, std::int64_t numel);
  std::map<int, Base> bases_;
};

/// What one process gets that takes the ranks' tensors one after the other: sums in float32 (or
/// `output`, if that is wider), rounded once.
at::Tensor reduced(const std::vector<at::Tensor>& ranks, ReduceOp op, at::ScalarType output);

/// Each element's possible error of a sum in any order: elements * epsilon * sum of magnitudes.
at::Tensor rounding_bound(const std::vector<at::Tensor>& ranks, at::ScalarType dtype);

/// "element 17 of Float [30]" and both values there, of two tensors that differ.
struct Difference {
  std::string place, expected, found;
};
/// Where they differ first in dtype, shape or a bit, or, with a bound, by more than that; the place
/// is empty if they do not.
Difference first_difference(const at::Tensor& expected, const at::Tensor& found,
                            const at::Tensor& bound = {});

}  // namespace muster::check
