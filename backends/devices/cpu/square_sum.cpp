#include <muster/error.hpp>

#include "devices/cpu/clones.hpp"
#include "devices/cpu/contiguous.hpp"
#include "devices/cpu/element.hpp"
#include "devices/cpu/loops.hpp"
#include "text.hpp"

#include <array>
#include <cmath>
#include <cstddef>

namespace muster::cpu {
namespace {

constexpr std::size_t lanes = 8;  // Independent sums, for vector registers.
constexpr std::size_t group = 4;  // Squares that a lane adds before the sum is compensated.
constexpr std::size_t stride = lanes * group;

/// A sum together with what its additions rounded off.
struct Exact {
  double sum = 0.0;
  double lost = 0.0;
};

MUSTER_INLINE void add(double& sum, double& lost, double value) {
  const double total = sum + value;
  const double part = total - sum;
  lost += (sum - (total - part)) + (value - part);
  sum = total;
}

/// The square of a float has at most 48 bits, so it is exact in a double; none is negative, so a
/// few can be added as they are.
template <class Element>
MUSTER_INLINE Exact sum_squares(const Element* values, std::size_t numel) {
  std::array<double, lanes> sums{};
  std::array<double, lanes> lost{};
  const std::size_t whole = numel / stride * stride;
  for (std::size_t begin = 0; begin < whole; begin += stride) {
    std::array<double, lanes> few{};
    for (std::size_t i = 0; i < group; ++i) {
      for (std::size_t lane = 0; lane < lanes; ++lane) {
        const double value = load<double>(values[begin + i * lanes + lane]);
        few[lane] += value * value;
      }
    }
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      add(sums[lane], lost[lane], few[lane]);
    }
  }
  Exact total;
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    add(total.sum, total.lost, sums[lane]);
    total.lost += lost[lane];
  }
  for (std::size_t i = whole; i < numel; ++i) {
    const double value = load<double>(values[i]);
    add(total.sum, total.lost, value * value);
  }
  return total;
}

MUSTER_CLONES Exact of_floats(const float* values, std::size_t numel) {
  return sum_squares(values, numel);
}

MUSTER_CLONES Exact of_doubles(const double* values, std::size_t numel) {
  return sum_squares(values, numel);
}

MUSTER_CLONES Exact of_bfloat16s(const Bfloat16* values, std::size_t numel) {
  return sum_squares(values, numel);
}

MUSTER_CLONES Exact of_float16s(const Float16* values, std::size_t numel) {
  return sum_squares(values, numel);
}

template <class Element>
double finish(Exact (*sum)(const Element*, std::size_t), const at::Tensor& values) {
  const auto total = sum(static_cast<const Element*>(values.const_data_ptr()),
                         static_cast<std::size_t>(values.numel()));
  // What was lost beside an infinity is a NaN of the arithmetic, not of the values.
  return std::isfinite(total.sum) ? total.sum + total.lost : total.sum;
}

}  // namespace

double square_sum(const at::Tensor& values) {
  require_contiguous(values);
  switch (values.scalar_type()) {  // NOLINT(clang-diagnostic-switch-enum)
    case at::kFloat:
      return finish(of_floats, values);
    case at::kDouble:
      return finish(of_doubles, values);
    case at::kBFloat16:
      return finish(of_bfloat16s, values);
    case at::kHalf:
      return finish(of_float16s, values);
    default:
      throw UnsupportedError("no sum of squares of " + to_text(values.scalar_type()) +
                             "; there is one of float16, bfloat16, float32 and float64");
  }
}

}  // namespace muster::cpu
