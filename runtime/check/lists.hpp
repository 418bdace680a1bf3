#pragma once

#include <muster/device.hpp>

#include "check/bench.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

// What collectives are tried with.
namespace muster::check {

/// Elements: none, one, a few, what fits a message, and more than one piece for each rank.
inline constexpr std::array<std::int64_t, 6> lengths{0, 1, 7, 1000, 20'011, 200'003};

/// Those of `wanted` that the group's device has; the others are told as not checked.
std::vector<at::ScalarType> dtypes_here(Bench& bench, std::initializer_list<at::ScalarType> wanted);

/// Of sums.
std::vector<at::ScalarType> sum_dtypes(Bench& bench);
/// Of what only moves.
std::vector<at::ScalarType> moved_dtypes(Bench& bench);

/// Elements a rank: 0, then unequal ones; one rank alone has some.
std::vector<std::int64_t> uneven_counts(int size, std::int64_t unit);
std::int64_t sum_of(const std::vector<std::int64_t>& counts);
/// Those of the ranks before `rank`.
std::int64_t sum_before(const std::vector<std::int64_t>& counts, int rank);

/// "8 dtypes"
std::string count_text(const std::vector<at::ScalarType>& dtypes);

/// rank's element of a list.
template <class T>
const T& at_rank(const std::vector<T>& list, int rank) {
  return list[static_cast<std::size_t>(rank)];
}

}  // namespace muster::check
