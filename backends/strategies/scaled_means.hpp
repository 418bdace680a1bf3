#pragma once

#include "gradient_buffers.hpp"

#include <cstddef>
#include <vector>

namespace muster {

/// What is known of the mean gradient of each slot: the scale of the loss that it is of, and
/// whether it is finite.
class ScaledMeans {
 public:
  explicit ScaledMeans(std::size_t slots) : slots_(slots) {}

  /// The slot's mean is new, or was added to: it is `scale` times too large.
  void changed(std::size_t slot, double scale) { slots_[slot] = {scale, false, true}; }
  /// There is none any more.
  void gone(std::size_t slot) { changed(slot, 1); }
  double scale(std::size_t slot) const { return slots_[slot].scale; }
  bool is_checked(std::size_t slot) const { return slots_[slot].checked; }
  bool is_finite(std::size_t slot) const { return slots_[slot].finite; }
  /// Divides by the scale, and looks whether all is finite on this rank; once.
  void unscale(std::size_t slot, const at::Tensor& mean);
  /// It is not, on some rank.
  void set_broken(std::size_t slot) { slots_[slot].finite = false; }

 private:
  struct Slot {
    double scale = 1;
    bool checked = false;
    bool finite = true;
  };
  std::vector<Slot> slots_;
};

}  // namespace muster
