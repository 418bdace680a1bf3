#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace muster {

/// What ranks tell each other about a window. It travels as the tail of the last bucket, so a
/// reduction adds it up: each rank writes its own and reads the sums.
struct WindowReport {
  WindowReport(std::size_t buckets, std::size_t slots);

  /// A number that must be the same on all ranks, taken modulo 61: sums stay whole in fp32 up to
  /// 4096 ranks.
  struct Agreed {
    double number = 0, square = 0;
    void set(std::uint64_t value);
    bool holds(int ranks) const;  ///< Of sums over `ranks`: all had the same.
  };

  /// A whole number below 2^36 that ranks add up: in two parts, whose sums stay whole in fp32.
  struct Sum {
    double high = 0, low = 0;
    void set(double value);
    double value() const;
  };

  double left = 0;   ///< 1: this rank began another micro-step where the window should have closed.
  double plain = 0;  ///< 1: this rank's backwards count one each.
  double weighed = 0;        ///< 1: they count what the user said.
  Agreed steps;              ///< Optimizer steps so far.
  Agreed closings;           ///< Closing micro-steps so far.
  double scaled = 0;         ///< 1: this rank's sums are of losses that were multiplied by `scale`.
  double scale = 0;          ///< 0 without sums.
  Agreed scale_bits;         ///< Of ranks with sums.
  std::vector<Sum> weights;  ///< Per bucket: of the backwards of which it holds the sum.
  std::vector<double> used;  ///< Per slot: 1 if it has a gradient.
  std::vector<double> late;  ///< Per slot: 1 if more came after its bucket was sent.

  void set_scale(double value);
  /// Of sums: every rank with sums had the same scale.
  bool one_scale() const { return scale_bits.holds(static_cast<int>(scaled)); }
  /// Of sums: that scale; 1 if no rank had sums.
  double common_scale() const { return scaled > 0 ? scale / scaled : 1; }

  static std::int64_t numel(std::size_t buckets, std::size_t slots);
  void write(const at::Tensor& tail) const;  ///< tail: [numel], any floating dtype and device.
  void read(const at::Tensor& tail);
};

}  // namespace muster
