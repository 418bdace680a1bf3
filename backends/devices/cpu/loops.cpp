#include "devices/cpu/loops.hpp"

#include <muster/error.hpp>

#include "devices/cpu/clones.hpp"
#include "devices/cpu/contiguous.hpp"
#include "devices/cpu/element.hpp"
#include "devices/cpu/fold.hpp"
#include "text.hpp"

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

namespace muster::cpu {
namespace {

template <class Element, class Wide>
MUSTER_INLINE void scale_all(Element* values, std::int64_t numel, Wide factor) {
  for (std::int64_t i = 0; i < numel; ++i) {
    values[i] = store<Element>(load<Wide>(values[i]) * factor);
  }
}

MUSTER_CLONES void scale_floats(float* values, std::int64_t numel, float factor) {
  scale_all(values, numel, factor);
}

MUSTER_CLONES void scale_doubles(double* values, std::int64_t numel, double factor) {
  scale_all(values, numel, factor);
}

MUSTER_CLONES void scale_bfloat16s(Bfloat16* values, std::int64_t numel, float factor) {
  scale_all(values, numel, factor);
}

MUSTER_CLONES void scale_float16s(Float16* values, std::int64_t numel, float factor) {
  scale_all(values, numel, factor);
}

template <class Element, class Wide>
void scale_with(void (*loop)(Element*, std::int64_t, Wide), const at::Tensor& destination,
                double factor) {
  loop(static_cast<Element*>(destination.data_ptr()), destination.numel(),
       static_cast<Wide>(factor));
}

/// True if all products are finite: infinity and NaN have all bits of the exponent.
template <class Bits, class Element>
MUSTER_INLINE bool unscale_all(Element* values, std::int64_t numel, Element factor, Bits exponent) {
  Bits broken = 0;
  for (std::int64_t i = 0; i < numel; ++i) {
    const Element product = values[i] * factor;
    values[i] = product;
    broken |= static_cast<Bits>((std::bit_cast<Bits>(product) & exponent) == exponent);
  }
  return broken == 0;
}

MUSTER_CLONES bool unscale_floats(float* values, std::int64_t numel, float factor) {
  return unscale_all<std::uint32_t>(values, numel, factor, 0x7f800000U);
}

MUSTER_CLONES bool unscale_doubles(double* values, std::int64_t numel, double factor) {
  return unscale_all<std::uint64_t>(values, numel, factor, 0x7ff0000000000000U);
}

template <class Out, class In>
MUSTER_INLINE void cast_all(Out* output, const In* input, std::int64_t numel) {
  MUSTER_INDEPENDENT_ROUNDS
  for (std::int64_t i = 0; i < numel; ++i) {
    output[i] = store<Out>(load<float>(input[i]));
  }
}

MUSTER_CLONES void widen_bfloat16s(float* output, const Bfloat16* input, std::int64_t numel) {
  cast_all(output, input, numel);
}

MUSTER_CLONES void widen_float16s(float* output, const Float16* input, std::int64_t numel) {
  cast_all(output, input, numel);
}

MUSTER_CLONES void narrow_to_bfloat16s(Bfloat16* output, const float* input, std::int64_t numel) {
  cast_all(output, input, numel);
}

MUSTER_CLONES void narrow_to_float16s(Float16* output, const float* input, std::int64_t numel) {
  cast_all(output, input, numel);
}

template <class Out, class In>
void cast_with(void (*loop)(Out*, const In*, std::int64_t), const at::Tensor& destination,
               const at::Tensor& source) {
  loop(static_cast<Out*>(destination.data_ptr()), static_cast<const In*>(source.const_data_ptr()),
       destination.numel());
}

}  // namespace

void sum_into(const at::Tensor& destination, const at::Tensor& source) {
  require_alike(destination, source);
  const std::array<const void*, 1> sources{source.const_data_ptr()};
  fold(destination.data_ptr(), sources, destination.numel(),
       {destination.scalar_type(), source.scalar_type(), ReduceOp::sum, true});
}

void scale(const at::Tensor& destination, double factor) {
  require_contiguous(destination);
  switch (destination.scalar_type()) {  // NOLINT(clang-diagnostic-switch-enum)
    case at::kFloat:
      return scale_with(scale_floats, destination, factor);
    case at::kDouble:
      return scale_with(scale_doubles, destination, factor);
    case at::kBFloat16:
      return scale_with(scale_bfloat16s, destination, factor);
    case at::kHalf:
      return scale_with(scale_float16s, destination, factor);
    default:
      throw UnsupportedError("cannot scale " + to_text(destination.scalar_type()) +
                             "; float16, bfloat16, float32 and float64 can be");
  }
}

bool unscale(const at::Tensor& values, double factor) {
  require_contiguous(values);
  if (values.scalar_type() == at::kFloat) {
    return unscale_floats(static_cast<float*>(values.data_ptr()), values.numel(),
                          static_cast<float>(factor));
  }
  if (values.scalar_type() == at::kDouble) {
    return unscale_doubles(static_cast<double*>(values.data_ptr()), values.numel(), factor);
  }
  throw UnsupportedError("gradients of " + to_text(values.scalar_type()) +
                         " have no loss scale; those of float32 and float64 do");
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
    cast_with(widen_bfloat16s, destination, source);
  } else if (out == at::kFloat && in == at::kHalf) {
    cast_with(widen_float16s, destination, source);
  } else if (out == at::kBFloat16 && in == at::kFloat) {
    cast_with(narrow_to_bfloat16s, destination, source);
  } else if (out == at::kHalf && in == at::kFloat) {
    cast_with(narrow_to_float16s, destination, source);
  } else {
    destination.view({-1}).copy_(source.view({-1}));
  }
}

}  // namespace muster::cpu
