#include <muster/full_precision.hpp>

#include <ATen/core/Dict.h>
#include <ATen/core/List.h>
#include <ATen/core/ivalue.h>
#include <ATen/core/jit_type.h>

namespace muster {

at::Tensor in_full_precision(at::Tensor tensor) {
  if (!tensor.defined()) return tensor;
  const auto dtype = tensor.scalar_type();
  return dtype == at::kHalf || dtype == at::kBFloat16 ? tensor.to(at::kFloat) : tensor;
}

c10::IValue in_full_precision(const c10::IValue& value) {
  if (value.isTensor()) return in_full_precision(value.toTensor());
  if (value.isTuple()) {
    std::vector<c10::IValue> elements;
    for (const auto& element : value.toTupleRef().elements()) {
      elements.push_back(in_full_precision(element));
    }
    const auto type = value.toTuple()->type();
    // A NamedTuple keeps its names.
    return type->schema() ? c10::ivalue::Tuple::createNamed(std::move(elements), type)
                          : c10::ivalue::Tuple::create(std::move(elements));
  }
  if (value.isList()) {
    auto list = value.toList().copy();
    for (std::size_t index = 0; index < list.size(); ++index) {
      list.set(index, in_full_precision(list.get(index)));
    }
    return list;
  }
  if (value.isGenericDict()) {
    auto dictionary = value.toGenericDict().copy();
    for (const auto& item : value.toGenericDict()) {
      dictionary.insert_or_assign(item.key(), in_full_precision(item.value()));
    }
    return dictionary;
  }
  return value;
}

}  // namespace muster
