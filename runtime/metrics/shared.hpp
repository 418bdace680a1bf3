#pragma once

#include <muster/compensated_sum.hpp>
#include <muster/ranks.hpp>

#include <ATen/core/Tensor.h>

#include <initializer_list>
#include <vector>

namespace muster::metrics {

/// Rows of real samples, as doubles on the CPU [rows * ...].
at::Tensor real_values(const Ranks& ranks, const at::Tensor& values);

/// Adds each element.
void add_all(CompensatedSum& sum, const at::Tensor& doubles);

/// The sums of all ranks, added in rank order. Collective, once for all of them.
std::vector<double> sums_of_ranks(const Ranks& ranks, std::initializer_list<CompensatedSum> sums);

/// The class with the highest score, the lowest of equal ones. scores: [n, classes]; or [n], which
/// are classes already. [n] int64 on the CPU.
at::Tensor classes_of(const at::Tensor& scores);

}  // namespace muster::metrics
