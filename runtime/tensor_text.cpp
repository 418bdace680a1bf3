#include "tensor_text.hpp"

#include <cctype>

namespace muster {

std::string shape_text(at::IntArrayRef shape) {
  std::string text = "[";
  for (std::size_t i = 0; i < shape.size(); ++i) {
    text += (i > 0 ? ", " : "") + std::to_string(shape[i]);
  }
  return text + "]";
}

std::string dtype_text(at::ScalarType dtype) {
  switch (static_cast<int>(dtype)) {
    case static_cast<int>(at::kFloat):
      return "float32";
    case static_cast<int>(at::kDouble):
      return "float64";
    case static_cast<int>(at::kHalf):
      return "float16";
    case static_cast<int>(at::kBFloat16):
      return "bfloat16";
    case static_cast<int>(at::kChar):
      return "int8";
    case static_cast<int>(at::kByte):
      return "uint8";
    case static_cast<int>(at::kShort):
      return "int16";
    case static_cast<int>(at::kInt):
      return "int32";
    case static_cast<int>(at::kLong):
      return "int64";
    default:
      break;
  }
  std::string name = c10::toString(dtype);
  for (char& letter : name)
    letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  return name;
}

std::string describe_tensor(const at::Tensor& tensor) {
  if (!tensor.defined()) return "undefined";
  return shape_text(tensor.sizes()) + ' ' + dtype_text(tensor.scalar_type());
}

}  // namespace muster
