#pragma once

#include <muster/autocast.hpp>
#include <muster/full_precision.hpp>

#include <concepts>
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
  friend struct Internals;
  template <class M>
  friend class Model;
  /// Autocast as the model was prepared, for its forward.
  Autocast begin_forward() const;
  bool is_narrow() const noexcept;  ///< It computes in bf16 or fp16.
  std::shared_ptr<PreparedModel> prepared_;
};

/// What prepare() returns for a module: called like it, and a pointer to it. Cheap to copy. Calling
/// the module itself is legal too; then it computes in fp32, and buffers get rank 0's values only
/// when the window closes.
///
/// With mixed precision the module runs under autocast, and float16 and bfloat16 tensors that it
/// returns are float32 for the caller: a tensor, c10::IValue, or tensors in tuples, pairs, vectors,
/// arrays, optionals and maps. A struct of the program's own is returned as it is.
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
    return compute([&]() -> decltype(auto) {
      if constexpr (std::is_same_v<M, torch::jit::Module>) {
        return module_->forward({std::forward<Arguments>(arguments)...});
      } else {
        return module_->forward(std::forward<Arguments>(arguments)...);
      }
    });
  }

  /// The same for another of the module's functions: run([&](Net& net) { return net.encode(x); }).
  /// `function` may also take nothing.
  template <class Function>
  decltype(auto) run(Function&& function) const {
    return compute([&]() -> decltype(auto) {
      if constexpr (std::invocable<Function, M&>) {
        return std::forward<Function>(function)(*module_);
      } else {
        return std::forward<Function>(function)();
      }
    });
  }

  M* operator->() const noexcept { return module_.get(); }
  M& operator*() const noexcept { return *module_; }
  const std::shared_ptr<M>& unwrap() const noexcept { return module_; }

 private:
  template <class Forward>
  decltype(auto) compute(const Forward& forward) const {
    using Output = std::remove_cvref_t<std::invoke_result_t<const Forward&>>;
    if constexpr (holds_tensors<Output>) {
      auto output = [&]() -> Output {
        const auto guard = begin_forward();
        return forward();
      }();
      if (is_narrow()) return in_full_precision(Output(std::move(output)));
      return output;
    } else {
      const auto guard = begin_forward();
      return forward();
    }
  }

  std::shared_ptr<M> module_;
};

}  // namespace muster
