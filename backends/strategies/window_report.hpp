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

  double left = 0;  ///< 1: this rank began another micro-step where the window should have closed.
  Agreed steps;     ///< Optimizer steps so far.
  Agreed closings;  ///< Closing micro-steps so far.
  std::vector<double>
      micro_steps;           ///< Per bucket: with a backward, of which the bucket holds the sum.
  std::vector<double> used;  ///< Per slot: 1 if it has a gradient.
  std::vector<double> late;  ///< Per slot: 1 if more came after its bucket was sent.

  static std::int64_t numel(std::size_t buckets, std::size_t slots);
  void write(const at::Tensor& tail) const;  ///< tail: [numel], any floating dtype and device.
  void read(const at::Tensor& tail);
};

}  // namespace muster
