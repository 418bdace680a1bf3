#include "forward_scene.hpp"

#include <ATen/Context.h>
#include <ATen/autocast_mode.h>

#include <algorithm>
#include <mutex>

namespace muster {
namespace {

thread_local int computing_again = 0;

std::vector<at::Device> devices_of(const std::vector<at::Tensor>& tensors) {
  std::vector<at::Device> devices{at::kCPU};
  for (const auto& tensor : tensors) {
    if (tensor.defined() && std::ranges::find(devices, tensor.device()) == devices.end()) {
      devices.push_back(tensor.device());
    }
  }
  return devices;
}

}  // namespace

ForwardScene::ForwardScene(const std::vector<at::Tensor>& inputs)
    : ForwardScene(devices_of(inputs)) {}

ForwardScene::ForwardScene(const std::vector<at::Device>& devices)
    : cache_enabled_(at::autocast::is_autocast_cache_enabled()) {
  for (const auto device : devices) {
    auto generator = at::globalContext().defaultGenerator(device);
    const std::lock_guard lock(generator.mutex());
    generators_.push_back({device, generator.get_state()});
    autocast_.push_back({device.type(), at::autocast::is_autocast_enabled(device.type()),
                         at::autocast::get_autocast_dtype(device.type())});
  }
}

std::vector<at::Device> ForwardScene::devices() const {
  std::vector<at::Device> devices;
  for (const auto& generator : generators_) devices.push_back(generator.device);
  return devices;
}

void ForwardScene::apply() const {
  for (const auto& [device, state] : generators_) {
    auto generator = at::globalContext().defaultGenerator(device);
    const std::lock_guard lock(generator.mutex());
    generator.set_state(state);
  }
  for (const auto& [device, enabled, dtype] : autocast_) {
    at::autocast::set_autocast_enabled(device, enabled);
    at::autocast::set_autocast_dtype(device, dtype);
  }
  at::autocast::set_autocast_cache_enabled(cache_enabled_);
}

ForwardScene::Again::Again(const ForwardScene& scene) : before_(scene.devices()) {
  scene.apply();
  // A cached cast belongs to the graph of another forward.
  at::autocast::set_autocast_cache_enabled(false);
  ++computing_again;
}

ForwardScene::Again::~Again() {
  --computing_again;
  before_.apply();
}

bool ForwardScene::is_again() noexcept { return computing_again > 0; }

}  // namespace muster
