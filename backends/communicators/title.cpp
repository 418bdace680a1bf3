#include "communicators/title.hpp"

#include "text.hpp"

namespace muster {

std::string title(const Operation& operation) {
  return std::string(to_string(operation.kind)) + " #" + std::to_string(operation.sequence) + " '" +
         operation.label + "'";
}

std::string tensor_text(const Operation& operation) {
  const auto& tensor = operation.input.defined() ? operation.input : operation.output;
  return tensor.defined() ? to_text(tensor.scalar_type()) + " " + to_text(tensor.sizes()) : "";
}

}  // namespace muster
