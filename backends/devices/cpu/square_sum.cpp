#include <muster/error.hpp>

#include "communicators/text.hpp"
#include "devices/cpu/element.hpp"
#include "devices/cpu/loops.hpp"

#include <array>
#include <cmath>
#include <cstddef>

namespace muster::cpu {
namespace {

/// A sum together with what its additions rounded off.
struct Exact {
  double sum = 0.0;
  double lost = 0.0;
};

inline void add(Exact& total, double value) noexcept {
  const double sum = total.sum + value;
  const double part = sum - total.sum;
  total.lost += (total.sum - (sum - part)) + (value - part);
  total.sum = sum;
}

/// The square of a float has at most 48 bits, so it is exact in a double.
template <class Element>
double squares(const void* data, std::int64_t numel) {
  constexpr std::int64_t lanes = 16;  // Independent sums, for vector registers.
  std::array<double, lanes> sums{};
  std::array<double, lanes> lost{};
  const auto* const values = static_cast<const Element*>(data);
  const std::int64_t whole = numel / lanes * lanes;
  for (std::int64_t begin = 0; begin < whole; begin += lanes) {
    for (std::int64_t lane = 0; lane < lanes; ++lane) {
      const auto i = static_cast<std::size_t>(lane);
      const double value = load<double>(values[begin + lane]);
      const double square = value * value;
      const double sum = sums[i] + square;
      const double part = sum - sums[i];
      lost[i] += (sums[i] - (sum - part)) + (square - part);
      sums[i] = sum;
    }
  }
  Exact total;
  for (std::size_t i = 0; i < sums.size(); ++i) {
    add(total, sums[i]);
    total.lost += lost[i];
  }
  for (std::int64_t i = whole; i < numel; ++i) {
    const double value = load<double>(values[i]);
    add(total, value * value);
  }
  // What was lost beside an infinity is a NaN of the arithmetic, not of the values.
  return std::isfinite(total.sum) ? total.sum + total.lost : total.sum;
}

}  // namespace

double square_sum(const at::Tensor& values) {
  switch (values.scalar_type()) {  // NOLINT(clang-diagnostic-switch-enum)
    case at::kFloat:
      return squares<float>(values.const_data_ptr(), values.numel());
    case at::kDouble:
      return squares<double>(values.const_data_ptr(), values.numel());
    case at::kBFloat16:
      return squares<Bfloat16>(values.const_data_ptr(), values.numel());
    case at::kHalf:
      return squares<Float16>(values.const_data_ptr(), values.numel());
    default:
      throw UnsupportedError("no sum of squares of " + to_text(values.scalar_type()) +
                             "; there is one of float16, bfloat16, float32 and float64");
  }
}

}  // namespace muster::cpu
