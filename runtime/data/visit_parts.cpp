#include <muster/batch_source.hpp>
#include <muster/visit_parts.hpp>

#include <c10/util/Type.h>

namespace muster {

void RowCounter::tensor(at::Tensor& tensor) {
  if (rows_ < 0 && tensor.defined() && tensor.dim() > 0) rows_ = tensor.size(0);
}

void TensorSeparator::tensor(at::Tensor& tensor) {
  if (tensor.defined()) tensor = tensor.clone();
}

std::string type_text(const std::type_info& type) { return c10::demangle(type.name()); }

}  // namespace muster
