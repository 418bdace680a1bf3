#pragma once

#include <cmath>

namespace muster {

/// A sum of doubles with the error of each addition beside it.
class CompensatedSum {
 public:
  CompensatedSum() = default;
  CompensatedSum(double sum, double error) : sum_(sum), error_(error) {}

  void add(double value) noexcept {
    const double next = sum_ + value;
    // The larger of the two keeps its digits.
    error_ += std::abs(sum_) >= std::abs(value) ? (sum_ - next) + value : (value - next) + sum_;
    sum_ = next;
  }
  double value() const noexcept { return std::isfinite(error_) ? sum_ + error_ : sum_; }
  double sum() const noexcept { return sum_; }
  double error() const noexcept { return error_; }

 private:
  double sum_ = 0, error_ = 0;
};

}  // namespace muster
