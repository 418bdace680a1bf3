#pragma once

#include <muster/strategy.hpp>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace torch::nn {
class Module;
}
namespace torch::jit {
struct Module;
}

namespace muster {

/// A module of LibTorch's as the runtime sees it, whichever of its kinds it is.
class ModuleView {
 public:
  virtual ~ModuleView() = default;
  /// Two views of one module have the same.
  virtual const void* identity() const noexcept = 0;
  virtual bool training() const = 0;
  /// Every name; a tensor with several names stands under each.
  virtual std::vector<NamedTensor> parameters() const = 0;
  virtual std::vector<NamedTensor> buffers() const = 0;
  /// Parameters that a module of LibTorch's no longer uses, since the program assigned another
  /// tensor to its member, with that tensor.
  virtual std::vector<NamedTensor> replaced() const { return {}; }
};

std::unique_ptr<ModuleView> view_module(std::shared_ptr<torch::nn::Module> module);
std::unique_ptr<ModuleView> view_module(const torch::jit::Module& module);

/// Names of one tensor: it is kept under the first.
struct SharedName {
  std::string name;
  std::string kept;
};

/// What a module holds, each tensor once.
struct ModuleTensors {
  std::vector<NamedTensor> parameters;
  std::vector<NamedTensor> buffers;
  std::vector<SharedName> shared;
};

/// Throws ModelError naming a parameter that training could not reach: registered, but replaced by
/// one that is not.
ModuleTensors tensors_of(const ModuleView& module);

}  // namespace muster
