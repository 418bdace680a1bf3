#include "module_view.hpp"

#include <torch/csrc/jit/api/module.h>

namespace muster {
namespace {

class ScriptView : public ModuleView {
 public:
  explicit ScriptView(const torch::jit::Module& module) : module_(module) {}

  const void* identity() const noexcept override { return module_._ivalue().get(); }
  bool training() const override { return module_.is_training(); }
  std::vector<NamedTensor> parameters() const override { return named(module_.named_parameters()); }
  std::vector<NamedTensor> buffers() const override { return named(module_.named_buffers()); }

 private:
  template <class List>
  static std::vector<NamedTensor> named(const List& tensors) {
    std::vector<NamedTensor> result;
    for (const auto& item : tensors) {
      if (item.value.defined()) result.push_back({item.name, item.value});
    }
    return result;
  }

  torch::jit::Module module_;
};

}  // namespace

std::unique_ptr<ModuleView> view_module(const torch::jit::Module& module) {
  return std::make_unique<ScriptView>(module);
}

}  // namespace muster
