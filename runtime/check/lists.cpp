#include "check/lists.hpp"

#include <c10/core/ScalarType.h>

#include <numeric>

namespace muster::check {

std::vector<at::ScalarType> dtypes_here(Bench& bench,
                                        std::initializer_list<at::ScalarType> wanted) {
  const auto& device = device_kind(bench.group().device());
  std::vector<at::ScalarType> here;
  for (const auto dtype : wanted) {
    if (device.supports(dtype)) {
      here.push_back(dtype);
    } else {
      bench.not_checked(std::string(c10::toString(dtype)) + ": " + std::string(device.name()) +
                        " has none");
    }
  }
  return here;
}

std::vector<at::ScalarType> sum_dtypes(Bench& bench) {
  return dtypes_here(bench, {at::kFloat, at::kDouble, at::kHalf, at::kBFloat16, at::kChar,
                             at::kByte, at::kInt, at::kLong});
}

std::vector<at::ScalarType> moved_dtypes(Bench& bench) {
  return dtypes_here(bench, {at::kFloat, at::kBFloat16, at::kFloat8_e4m3fn, at::kShort, at::kLong,
                             at::kBool, at::kComplexFloat});
}

std::vector<std::int64_t> uneven_counts(int size, std::int64_t unit) {
  if (size == 1) return {unit};
  std::vector<std::int64_t> counts;
  for (int rank = 0; rank < size; ++rank) counts.push_back(unit * (rank % 3) + rank % 2);
  return counts;
}

std::int64_t sum_of(const std::vector<std::int64_t>& counts) {
  return std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
}

std::int64_t sum_before(const std::vector<std::int64_t>& counts, int rank) {
  return std::accumulate(counts.begin(), counts.begin() + rank, std::int64_t{0});
}

std::string count_text(const std::vector<at::ScalarType>& dtypes) {
  return std::to_string(dtypes.size()) + " dtypes";
}

}  // namespace muster::check
