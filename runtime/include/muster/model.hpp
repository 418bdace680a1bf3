#pragma once

#include <memory>
#include <type_traits>
#include <utility>

namespace torch::jit {
struct Module;
}

namespace muster {

struct PreparedModel;

/// What handles of models have in common: the model that was prepared. Copies share it.
class ModelHandle {
 public:
  explicit ModelHandle(std::shared_ptr<PreparedModel> prepared) : prepared_(std::move(prepared)) {}
  /// The same prepared model.
  bool operator==(const ModelHandle& other) const noexcept { return prepared_ == other.prepared_; }

 private:
  friend class Accelerator;
  template <class M>
  friend class Model;
  void begin_forward() const;
  std::shared_ptr<PreparedModel> prepared_;
};

/// What prepare() returns for a module: called like it, and a pointer to it. Cheap to copy. Calling
/// the module itself is legal too; then buffers get rank 0's values only when the window closes.
template <class M>
class Model : public ModelHandle {
 public:
  Model(ModelHandle handle, std::shared_ptr<M> module)
      : ModelHandle(std::move(handle)), module_(std::move(module)) {}

  /// Runs the module's forward. In training mode with gradients enabled every rank must call it,
  /// for then buffers take rank 0's values first, once a window. A torch::jit::Module takes values
  /// that become c10::IValue and returns one.
  template <class... Arguments>
  decltype(auto) operator()(Arguments&&... arguments) const {
    begin_forward();
    if constexpr (std::is_same_v<M, torch::jit::Module>) {
      return module_->forward({std::forward<Arguments>(arguments)...});
    } else {
      return module_->forward(std::forward<Arguments>(arguments)...);
    }
  }

  M* operator->() const noexcept { return module_.get(); }
  M& operator*() const noexcept { return *module_; }
  const std::shared_ptr<M>& unwrap() const noexcept { return module_; }

 private:
  std::shared_ptr<M> module_;
};

}  // namespace muster
