#include "devices/cpu/contiguous.hpp"

#include <muster/error.hpp>

#include "text.hpp"

#include <string>

namespace muster::cpu {

void require_contiguous(const at::Tensor& tensor) {
  if (!tensor.is_contiguous()) {
    throw ConfigError("tensor of shape " + to_text(tensor.sizes()) + " and strides " +
                      to_text(tensor.strides()) + " is not contiguous; pass its contiguous()");
  }
}

void require_alike(const at::Tensor& destination, const at::Tensor& source) {
  require_contiguous(destination);
  require_contiguous(source);
  if (destination.numel() != source.numel()) {
    throw ConfigError("tensors " + to_text(destination.sizes()) + " and " +
                      to_text(source.sizes()) + " are not equal in elements");
  }
}

}  // namespace muster::cpu
