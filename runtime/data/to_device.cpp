#include <muster/error.hpp>
#include <muster/to_device.hpp>

#include <c10/util/Type.h>

namespace muster {

at::Tensor to_device(at::Tensor tensor, at::Device device) {
  if (tensor.defined()) tensor = tensor.to(device, /*non_blocking=*/true);
  return tensor;
}

void require_cpu(const std::type_info& type, at::Device device) {
  if (device.is_cpu()) return;
  const std::string name = c10::demangle(type.name());
  throw UnsupportedError("data loader: cannot move a batch of type " + name + " to " +
                         device.str() + ": write to_device(" + name +
                         ", at::Device) in its namespace");
}

}  // namespace muster
