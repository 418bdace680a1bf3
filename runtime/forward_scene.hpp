#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <vector>

namespace muster {

/// What a forward depends on besides its inputs: the state of the default random generators, and
/// autocast.
class ForwardScene {
 public:
  /// As it is now, of the CPU and of the device that `inputs` are on.
  explicit ForwardScene(const std::vector<at::Tensor>& inputs);

  /// Puts the scene back, until it goes.
  class Again;

  /// A forward is being computed again on this thread.
  static bool is_again() noexcept;

 private:
  struct Autocast {
    at::DeviceType device;
    bool enabled;
    at::ScalarType dtype;
  };
  struct Generator {
    at::Device device;
    at::Tensor state;
  };
  explicit ForwardScene(const std::vector<at::Device>& devices);
  std::vector<at::Device> devices() const;
  void apply() const;

  std::vector<Generator> generators_;
  std::vector<Autocast> autocast_;
  bool cache_enabled_;
};

class ForwardScene::Again {
 public:
  explicit Again(const ForwardScene& scene);
  ~Again();
  Again(const Again&) = delete;
  Again& operator=(const Again&) = delete;

 private:
  ForwardScene before_;
};

}  // namespace muster
