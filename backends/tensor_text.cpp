#include <muster/tensor_text.hpp>

namespace muster {

std::string describe_tensor(const at::Tensor& tensor) {
  if (!tensor.defined()) return "undefined";
  return to_text(tensor.sizes()) + ' ' + to_text(tensor.scalar_type());
}

}  // namespace muster
