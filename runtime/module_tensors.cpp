#include <muster/error.hpp>
#include <muster/log.hpp>

#include "module_view.hpp"

#include <string>
#include <unordered_map>

namespace muster {
namespace {

using FirstNames = std::unordered_map<const c10::TensorImpl*, std::string>;

/// Moves each tensor that no earlier name has into `kept`, other names into `shared`.
void keep_first(std::vector<NamedTensor> tensors, FirstNames& names, std::vector<NamedTensor>& kept,
                std::vector<SharedName>& shared) {
  for (auto& tensor : tensors) {
    const auto [first, is_new] = names.emplace(tensor.tensor.unsafeGetTensorImpl(), tensor.name);
    if (is_new) {
      kept.push_back(std::move(tensor));
    } else {
      shared.push_back({std::move(tensor.name), first->second});
    }
  }
}

}  // namespace

ModuleTensors tensors_of(const ModuleView& module) {
  ModuleTensors result;
  FirstNames names;
  keep_first(module.parameters(), names, result.parameters, result.shared);
  for (const auto& [name, used] : module.replaced()) {
    const auto owner = names.find(used.unsafeGetTensorImpl());
    if (owner != names.end()) {
      result.shared.push_back({name, owner->second});
    } else if (used.is_leaf() && used.requires_grad()) {
      throw ModelError(
          "parameter '" + name +
          "' is registered, but its module uses another tensor that was assigned to the "
          "member and that no module registers: an optimizer over parameters() would "
          "never update it. Copy into the parameter (under torch::NoGradGuard) instead");
    }
  }
  keep_first(module.buffers(), names, result.buffers, result.shared);
  return result;
}

}  // namespace muster
