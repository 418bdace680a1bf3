#include "devices/cpu/loops.hpp"

#include <muster/error.hpp>

#include "communicators/text.hpp"
#include "devices/cpu/element.hpp"
#include "devices/cpu/fold.hpp"

#include <array>
#include <cstring>
#include <string>

namespace muster::cpu {
namespace {

void require_alike(const at::Tensor& destination, const at::Tensor& source) {
  if (destination.numel() != source.numel() || !destination.is_contiguous() ||
      !source.is_contiguous()) {
    throw ConfigError("tensors " + to_text(destination.sizes()) + " and " +
                      to_text(source.sizes()) + " are not contiguous and equal in elements");
  }
}

template <class Element, class Wide>
void scale_as(const at::Tensor& destination, double factor) {
  auto* const values = static_cast<Element*>(destination.data_ptr());
  const auto numel = destination.numel();
  const auto by = static_cast<Wide>(factor);
  for (std::int64_t i = 0; i < numel; ++i) {
    values[i] = store<Element>(load<Wide>(values[i]) * by);
  }
}

template <class Wide, class Out, class In>
void cast_as(const at::Tensor& destination, const at::Tensor& source) {
  auto* const output = static_cast<Out*>(destination.data_ptr());
  const auto* const input = static_cast<const In*>(source.const_data_ptr());
  const auto numel = destination.numel();
  for (std::int64_t i = 0; i < numel; ++i) {
    output[i] = store<Out>(load<Wide>(input[i]));
  }
}

}  // namespace

void sum_into(const at::Tensor& destination, const at::Tensor& source) {
  require_alike(destination, source);
  const std::array<const void*, 1> sources{source.const_data_ptr()};
  fold(destination.data_ptr(), sources, destination.numel(),
       {destination.scalar_type(), source.scalar_type(), ReduceOp::sum, true});
}

void scale(const at::Tensor& destination, double factor) {
  switch (destination.scalar_type()) {  // NOLINT(clang-diagnostic-switch-enum)
    case at::kFloat:
      return scale_as<float, float>(destination, factor);
    case at::kDouble:
      return scale_as<double, double>(destination, factor);
    case at::kBFloat16:
      return scale_as<Bfloat16, float>(destination, factor);
    case at::kHalf:
      return scale_as<Float16, float>(destination, factor);
    default:
      throw UnsupportedError("cannot scale " + to_text(destination.scalar_type()) +
                             "; float16, bfloat16, float32 and float64 can be");
  }
}

void cast(const at::Tensor& destination, const at::Tensor& source) {
  require_alike(destination, source);
  const auto out = destination.scalar_type();
  const auto in = source.scalar_type();
  if (out == in) {
    if (source.nbytes() > 0 && destination.data_ptr() != source.const_data_ptr()) {
      std::memmove(destination.data_ptr(), source.const_data_ptr(), source.nbytes());
    }
  } else if (out == at::kFloat && in == at::kBFloat16) {
    cast_as<float, float, Bfloat16>(destination, source);
  } else if (out == at::kFloat && in == at::kHalf) {
    cast_as<float, float, Float16>(destination, source);
  } else if (out == at::kBFloat16 && in == at::kFloat) {
    cast_as<float, Bfloat16, float>(destination, source);
  } else if (out == at::kHalf && in == at::kFloat) {
    cast_as<float, Float16, float>(destination, source);
  } else {
    destination.view({-1}).copy_(source.view({-1}));
  }
}

}  // namespace muster::cpu
