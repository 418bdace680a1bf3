#include <muster/accelerator.hpp>
#include <muster/memory_use.hpp>

#include "accelerator_state.hpp"
#include "memory_figures.hpp"
#include "optimizer_tensors.hpp"

#include <algorithm>
#include <cstdio>
#include <initializer_list>

namespace muster {
namespace {

std::int64_t bytes_of(std::initializer_list<at::Tensor> tensors) {
  std::int64_t bytes = 0;
  for (const auto& tensor : tensors) {
    if (tensor.defined()) bytes += static_cast<std::int64_t>(tensor.nbytes());
  }
  return bytes;
}

std::string size_text(std::int64_t bytes) {
  constexpr double mib = 1 << 20, gib = 1 << 30;
  const auto number = static_cast<double>(bytes);
  char text[32];
  std::snprintf(text, sizeof text, number >= gib ? "%.1f GiB" : "%.1f MiB",
                number / (number >= gib ? gib : mib));
  return text;
}

}  // namespace

std::int64_t MemoryUse::others() const noexcept {
  const auto all = device_allocated > 0 ? device_allocated : resident;
  return std::max<std::int64_t>(0, all - parameters - buffers - gradients - optimizer);
}

std::string MemoryUse::to_text() const {
  std::string text = "parameters " + size_text(parameters) + ", buffers " + size_text(buffers) +
                     ", gradients in buckets " + size_text(gradients) + ", optimizer " +
                     size_text(optimizer) + ", activations and others " + size_text(others()) +
                     "; " + size_text(resident) + " resident (at most " + size_text(peak) + ")";
  if (limit > 0) text += ", limit " + size_text(limit);
  if (device_reserved > 0) {
    text += "; device " + size_text(device_allocated) + " of " + size_text(device_reserved) +
            " reserved (at most " + size_text(device_peak) + ")";
  }
  return text;
}

MemoryUse Accelerator::memory() const {
  auto use = memory_figures(state_->device);
  for (const auto& model : state_->models) {
    for (const auto& [name, tensor] : model->module->parameters()) {
      use.parameters += bytes_of({tensor});
      use.gradients += bytes_of({tensor.grad()});
    }
    for (const auto& [name, tensor] : model->module->buffers()) use.buffers += bytes_of({tensor});
  }
  for (const auto& kept : state_->optimizers) {
    const auto prepared = kept.lock();
    if (!prepared) continue;
    for (const auto& leaf : tensors_of_state(*prepared->optimizer)) {
      use.optimizer += bytes_of({leaf.tensor});
    }
  }
  return use;
}

}  // namespace muster
