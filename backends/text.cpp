#include "text.hpp"

#include <cstdio>

namespace muster {

std::string to_text(at::ScalarType dtype) {
  switch (dtype) {  // NOLINT(clang-diagnostic-switch-enum): the rest keep LibTorch's name.
    case at::ScalarType::Float:
      return "float32";
    case at::ScalarType::Double:
      return "float64";
    case at::ScalarType::Half:
      return "float16";
    case at::ScalarType::BFloat16:
      return "bfloat16";
    case at::ScalarType::Byte:
      return "uint8";
    case at::ScalarType::Char:
      return "int8";
    case at::ScalarType::Short:
      return "int16";
    case at::ScalarType::Int:
      return "int32";
    case at::ScalarType::Long:
      return "int64";
    case at::ScalarType::UInt16:
      return "uint16";
    case at::ScalarType::UInt32:
      return "uint32";
    case at::ScalarType::UInt64:
      return "uint64";
    case at::ScalarType::Bool:
      return "bool";
    case at::ScalarType::ComplexFloat:
      return "complex64";
    case at::ScalarType::ComplexDouble:
      return "complex128";
    default:
      return c10::toString(dtype);
  }
}

std::string to_text(at::IntArrayRef sizes) {
  std::string text = "[";
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    text += (i == 0 ? "" : ", ") + std::to_string(sizes[i]);
  }
  return text + "]";
}

std::string to_text(at::Device device) { return device.str(); }

std::string to_text(std::chrono::milliseconds time) {
  if (time.count() < 1000) {
    return std::to_string(time.count()) + " ms";
  }
  char text[32];
  std::snprintf(text, sizeof(text), "%.1f s", static_cast<double>(time.count()) / 1000.0);
  return text;
}

std::string rank_text(int rank) { return "rank " + std::to_string(rank); }

std::string ranks_text(const std::vector<int>& ranks) {
  if (ranks.empty()) {
    return "no rank";
  }
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    text += i == 0 ? "" : (i + 1 == ranks.size() ? " and " : ", ");
    text += std::to_string(ranks[i]);
  }
  return text;
}

std::string first_line(std::string_view text) {
  return std::string(text.substr(0, text.find('\n')));
}

}  // namespace muster
