#include "gradient_norm.hpp"

#include <muster/device.hpp>
#include <muster/error.hpp>

#include <ATen/ops/linalg_vector_norm.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <sstream>

namespace muster {
namespace {

const Kernels& kernels_for(const at::Tensor& values) {
  return device_kind(values.device()).kernels();
}

/// Neumaier's sum: what plain addition drops is added at the end.
class CompensatedSum {
 public:
  void add(double value) {
    const double next = sum_ + value;
    lost_ += std::abs(sum_) >= std::abs(value) ? (sum_ - next) + value : (value - next) + sum_;
    sum_ = next;
  }
  /// The plain sum if it overflowed, since the loss is not a number then.
  double value() const { return std::isfinite(sum_) ? sum_ + lost_ : sum_; }

 private:
  double sum_ = 0, lost_ = 0;
};

double largest(const GradientWindow& window, const std::vector<std::size_t>& slots) {
  double most = 0;
  for (const auto slot : slots) {
    if (!window.has_gradient(slot) || window.means().window(slot).numel() == 0) continue;
    const auto values = window.means().slice(slot);
    const auto norm =
        at::linalg_vector_norm(values, std::numeric_limits<double>::infinity()).item<double>();
    if (std::isnan(norm)) return norm;
    most = std::max(most, norm);
  }
  return most;
}

double euclidean(const FlatModel& model, const GradientWindow& window,
                 const std::vector<std::size_t>& slots) {
  CompensatedSum squares;
  bool wide = false;
  for (const auto slot : slots) {
    if (!window.has_gradient(slot)) continue;
    const auto values = window.means().slice(slot);
    wide = wide || model.buckets()[model.slots()[slot].bucket].dtype == c10::ScalarType::Double;
    squares.add(kernels_for(values).square_sum(values));
  }
  const double norm = std::sqrt(squares.value());
  return wide ? norm : static_cast<double>(static_cast<float>(norm));
}

}  // namespace

std::vector<std::size_t> select_slots(const FlatModel& model, const std::vector<at::Tensor>& only) {
  std::vector<std::size_t> slots;
  if (only.empty()) {
    slots.resize(model.slots().size());
    std::iota(slots.begin(), slots.end(), 0);
    return slots;
  }
  for (const auto& parameter : only) {
    if (const auto slot = model.find_slot(parameter)) {
      slots.push_back(*slot);
    } else if (parameter.requires_grad()) {
      std::ostringstream text;
      text << "a tensor of shape " << parameter.sizes()
           << " was given for clipping, which is no parameter of the prepared model";
      throw ModelError(text.str());
    }
  }
  // Tied weights may be listed twice.
  std::ranges::sort(slots);
  slots.erase(std::ranges::unique(slots).begin(), slots.end());
  return slots;
}

double gradient_norm(const FlatModel& model, const GradientWindow& window,
                     const std::vector<std::size_t>& slots, double norm_type) {
  if (norm_type == 2) return euclidean(model, window, slots);
  if (std::isinf(norm_type) && norm_type > 0) return largest(window, slots);
  std::ostringstream text;
  text << "norm type " << norm_type << " is not known; 2 and infinity are";
  throw ConfigError(text.str());
}

void scale_gradients(const GradientWindow& window, const std::vector<std::size_t>& slots,
                     double factor) {
  for (const auto slot : slots) {
    if (!window.has_gradient(slot)) continue;
    // Not the zeros behind it: a factor that is not a number would stay in them.
    const auto numel = window.means().window(slot).numel();
    const auto values = window.means().slice(slot).narrow(0, 0, numel);
    kernels_for(values).scale(values, factor);
  }
}

}  // namespace muster
