#include "replaced.hpp"

#include <torch/csrc/api/include/torch/nn/modules/batchnorm.h>
#include <torch/csrc/api/include/torch/nn/modules/conv.h>
#include <torch/csrc/api/include/torch/nn/modules/embedding.h>
#include <torch/csrc/api/include/torch/nn/modules/linear.h>
#include <torch/csrc/api/include/torch/nn/modules/normalization.h>

#include <string>

namespace muster {
namespace {

namespace nn = torch::nn;

struct Search {
  const nn::Module& module;
  std::string prefix;
  std::vector<NamedTensor>& found;

  void compare(const char* name, const at::Tensor& used) const {
    const auto registered = module.named_parameters(/*recurse=*/false);
    const auto* parameter = registered.find(name);
    if (parameter && parameter->defined() && used.defined() && !parameter->is_same(used)) {
      found.push_back({prefix + name, used});
    }
  }

  /// A member that is no tensor (a bias flag, an absent one) is not looked at.
  template <class Kind>
  bool compare_as() const {
    const auto* known = module.as<Kind>();
    if (!known) return false;
    compare("weight", known->weight);
    if constexpr (requires { compare("bias", known->bias); }) compare("bias", known->bias);
    return true;
  }

  template <class... Kinds>
  void compare_as_any() const {
    (compare_as<Kinds>() || ...);
  }
};

}  // namespace

std::vector<NamedTensor> replaced_parameters(const nn::Module& module) {
  std::vector<NamedTensor> found;
  const auto look = [&found](const std::string& path, const nn::Module& part) {
    const Search search{part, path.empty() ? path : path + '.', found};
    search.compare_as_any<nn::LinearImpl, nn::BilinearImpl, nn::EmbeddingImpl, nn::EmbeddingBagImpl,
                          nn::Conv1dImpl, nn::Conv2dImpl, nn::Conv3dImpl, nn::ConvTranspose1dImpl,
                          nn::ConvTranspose2dImpl, nn::ConvTranspose3dImpl, nn::BatchNorm1dImpl,
                          nn::BatchNorm2dImpl, nn::BatchNorm3dImpl, nn::LayerNormImpl,
                          nn::GroupNormImpl>();
  };
  module.apply(nn::Module::ConstNamedModuleApplyFunction(look));
  return found;
}

}  // namespace muster
