#include "module_view.hpp"

#include "replaced.hpp"

#include <torch/csrc/api/include/torch/nn/module.h>

namespace muster {
namespace {

class NativeView : public ModuleView {
 public:
  explicit NativeView(std::shared_ptr<torch::nn::Module> module) : module_(std::move(module)) {}

  const void* identity() const noexcept override { return module_.get(); }
  bool training() const override { return module_->is_training(); }
  std::vector<NamedTensor> parameters() const override {
    return named(module_->named_parameters());
  }
  std::vector<NamedTensor> buffers() const override { return named(module_->named_buffers()); }
  std::vector<NamedTensor> replaced() const override { return replaced_parameters(*module_); }

 private:
  static std::vector<NamedTensor> named(
      const torch::OrderedDict<std::string, torch::Tensor>& tensors) {
    std::vector<NamedTensor> result;
    for (const auto& item : tensors) {
      if (item.value().defined()) result.push_back({item.key(), item.value()});
    }
    return result;
  }

  std::shared_ptr<torch::nn::Module> module_;
};

}  // namespace

std::unique_ptr<ModuleView> view_module(std::shared_ptr<torch::nn::Module> module) {
  return std::make_unique<NativeView>(std::move(module));
}

}  // namespace muster
