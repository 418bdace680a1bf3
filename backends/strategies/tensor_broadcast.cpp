#include <muster/tensor_broadcast.hpp>

#include <ATen/ops/empty.h>
#include <c10/core/GradMode.h>

#include <cstdint>
#include <vector>

namespace muster {
namespace {

/// Typed windows over one buffer of bytes, each on 64 bytes.
std::vector<at::Tensor> lay_out(std::span<const NamedTensor> tensors, at::Tensor& bytes,
                                c10::Device device) {
  std::vector<std::int64_t> offsets;
  std::int64_t total = 0;
  for (const auto& [name, tensor] : tensors) {
    offsets.push_back(total);
    total += (static_cast<std::int64_t>(tensor.nbytes()) + 63) / 64 * 64;
  }
  bytes = at::empty({total}, at::TensorOptions(at::kByte).device(device));
  std::vector<at::Tensor> pieces;
  for (std::size_t index = 0; index < tensors.size(); ++index) {
    const auto& tensor = tensors[index].tensor;
    pieces.push_back(bytes.narrow(0, offsets[index], static_cast<std::int64_t>(tensor.nbytes()))
                         .view(tensor.scalar_type())
                         .view(tensor.sizes()));
  }
  return pieces;
}

/// How many of the first tensors travel together: at least one.
std::size_t group_size(std::span<const NamedTensor> tensors) {
  constexpr std::size_t most_bytes = 64 << 20;
  std::size_t count = 0, bytes = 0;
  for (const auto& [name, tensor] : tensors) {
    bytes += tensor.nbytes();
    if (count > 0 && bytes > most_bytes) break;
    ++count;
  }
  return count;
}

void broadcast_group(std::span<const NamedTensor> tensors, Communicator& communicator,
                     std::string_view label) {
  at::Tensor bytes;
  const auto pieces = lay_out(tensors, bytes, communicator.device());
  if (bytes.numel() == 0) return;
  for (std::size_t index = 0; index < pieces.size(); ++index) {
    if (communicator.rank() == 0) pieces[index].copy_(tensors[index].tensor);
  }
  communicator.broadcast(bytes, 0, label).wait();
  if (communicator.rank() == 0) return;
  // variable_data() shares the memory and not the version counter.
  for (std::size_t index = 0; index < pieces.size(); ++index) {
    tensors[index].tensor.variable_data().copy_(pieces[index]);
  }
}

}  // namespace

void broadcast_tensors(std::span<const NamedTensor> tensors, Communicator& communicator,
                       std::string_view label) {
  if (communicator.size() == 1) return;
  const at::NoGradGuard no_grad;
  while (!tensors.empty()) {
    const auto group = tensors.first(group_size(tensors));
    broadcast_group(group, communicator, label);
    tensors = tensors.subspan(group.size());
  }
}

}  // namespace muster
