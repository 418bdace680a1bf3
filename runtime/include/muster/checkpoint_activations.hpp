#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <type_traits>
#include <utility>
#include <vector>

namespace muster {

/// A part of a forward: what it computes from its inputs, by modules and tensors that it captures.
using ForwardPart = std::function<std::vector<at::Tensor>(const std::vector<at::Tensor>&)>;

/// Calls `part(inputs)` without keeping its activations, and calls it again in backward, for less
/// memory and one more forward. The second call has the random numbers and the autocast of the
/// first; gradients are the same bits, of inputs and of captured parameters (of those that several
/// parts share only up to rounding), also where no input
/// requires one (PyTorch's checkpoint then trains nothing inside). `part` must compute the same
/// twice; statistics of batch norm that it updates are updated twice, unless sync_batch_norm is on.
/// With gradients off it is a plain call. Any ranks may call.
std::vector<at::Tensor> checkpoint_activations(ForwardPart part,
                                               const std::vector<at::Tensor>& inputs);

/// The same for a callable that takes the tensors and returns one, or a std::vector of them:
/// x = checkpoint_activations(block, x); a TORCH_MODULE holder is one.
template <class Part, class... Tensors>
  requires std::is_invocable_v<Part&, const Tensors&...> &&
           (std::is_convertible_v<const Tensors&, at::Tensor> && ...)
auto checkpoint_activations(Part part, const Tensors&... inputs) {
  using Result = std::decay_t<std::invoke_result_t<Part&, const Tensors&...>>;
  constexpr bool one = std::is_same_v<Result, at::Tensor>;
  static_assert(one || std::is_same_v<Result, std::vector<at::Tensor>>,
                "the part has to return a tensor or a std::vector of tensors");
  auto call = [part = std::move(part)]<std::size_t... I>(
                  const std::vector<at::Tensor>& tensors,
                  std::index_sequence<I...>) mutable -> std::vector<at::Tensor> {
    if constexpr (one) {
      return {part(tensors[I]...)};
    } else {
      return part(tensors[I]...);
    }
  };
  auto outputs =
      checkpoint_activations(ForwardPart([call](const std::vector<at::Tensor>& tensors) mutable {
                               return call(tensors, std::index_sequence_for<Tensors...>());
                             }),
                             std::vector<at::Tensor>{inputs...});
  if constexpr (one) {
    return std::move(outputs.front());
  } else {
    return outputs;
  }
}

}  // namespace muster
