#pragma once

#include <muster/accelerator_options.hpp>
#include <muster/prepare.hpp>
#include <muster/progress.hpp>
#include <muster/scope.hpp>
#include <muster/split.hpp>

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <initializer_list>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace muster {

/// The face of the runtime: rewrites a model, an optimizer and a data loader for what was launched.
///
/// Unless a member says otherwise, every rank calls it, in the same order, from one thread; it
/// blocks at most as long as one communication may take, then throws CommunicationError.
/// Accelerators of one process share its group of ranks; each counts its own micro-steps.
class Accelerator {
 public:
  /// Joins the ranks that the launcher started, or a world of one. Throws ConfigError for a setting
  /// that cannot be, CommunicationError if a rank does not come.
  explicit Accelerator(const AcceleratorOptions& options = {});
  ~Accelerator();
  Accelerator(Accelerator&&) noexcept;
  Accelerator& operator=(Accelerator&&) noexcept;
  Accelerator(const Accelerator&) = delete;
  Accelerator& operator=(const Accelerator&) = delete;

  /// Modules (std::shared_ptr, TORCH_MODULE holder, torch::jit::Module), optimizers and data
  /// loaders, in any order; returns their handles in that order, a single one bare. An optimizer
  /// given as an lvalue must outlive its handle. Throws ModelError, on all ranks, if models differ
  /// between ranks, and if an optimizer updates a tensor that no prepared model holds.
  template <class... Objects>
  auto prepare(Objects&&... objects) {
    return take_all(Adopter(state_), std::forward<Objects>(objects)...);
  }

  // --- the training loop -------------------------------------------------------------------------

  /// A micro-step, for the block that holds the result. Every gradient_accumulation_steps-th one,
  /// and the last batch of the loader, closes the window. Only the models named exchange gradients;
  /// each counts its own micro-steps.
  template <class... Models>
  Scope accumulate(const ModelHandle& model, const Models&... more) {
    return begin_micro_step({&model, &more...});
  }
  /// Backward calls in the block that holds the result stay on this rank.
  Scope no_sync(const ModelHandle& model);
  /// Computes gradients. Do not divide the loss: after the window's last backward they are the mean
  /// over its micro-steps and all ranks. Without accumulate() or no_sync() every call synchronises.
  void backward(const at::Tensor& loss);
  bool sync_gradients() const noexcept;  ///< The present micro-step closes its window.

  /// Scales the model's gradients so that their global norm is at most max_norm, and returns the
  /// norm before. On a micro-step that only accumulates it does nothing and returns NaN.
  double clip_grad_norm(const ModelHandle& model, double max_norm, double norm_type = 2.0);
  /// Limits each element to [-value, value]; nothing on a micro-step that only accumulates.
  void clip_grad_value(const ModelHandle& model, double value);

  // --- tensors of all ranks ----------------------------------------------------------------------
  // Results are new, contiguous and without gradient. ModelError, on all ranks and with what each
  // has, if shapes or dtypes differ.

  /// tensor: [n, ...]; returns [num_processes * n, ...] in rank order; a 0-dim tensor gives
  /// [num_processes].
  at::Tensor gather(const at::Tensor& tensor) const;
  /// gather() less the samples that were repeated to complete the last batch. tensor: one row, or
  /// equally many, a sample of the present batch; ranks may have different numbers of rows. Throws
  /// ConfigError for anything else in a completed batch: a 0-dim tensor has repeated samples inside
  /// it already.
  at::Tensor gather_for_metrics(const at::Tensor& tensor) const;
  template <class... Tensors>
    requires(sizeof...(Tensors) > 0)
  auto gather_for_metrics(const at::Tensor& first, const Tensors&... more) const {
    return std::tuple{gather_for_metrics(first), gather_for_metrics(more)...};
  }
  /// reduction: "sum" or "mean". Sums keep the dtype (bool gives int64); means of whole numbers are
  /// float.
  at::Tensor reduce(const at::Tensor& tensor, std::string_view reduction = "sum") const;
  /// Overwrites `tensor`, which may be a view, with that of rank `from`, and returns it.
  at::Tensor broadcast(at::Tensor tensor, int from = 0) const;
  /// Makes dimension `dim` as long as the longest of any rank, with `value` after the tensor's own
  /// elements, or before them.
  at::Tensor pad_across_processes(const at::Tensor& tensor, std::int64_t dim = 0, double value = 0,
                                  bool pad_first = false) const;

  // --- flow --------------------------------------------------------------------------------------

  /// `label` is told of a rank that waits in vain.
  void wait_for_everyone(std::string_view label = "wait_for_everyone") const;
  /// Calls `work` on rank 0, then on the others. If it throws on rank 0, all throw.
  void main_process_first(const std::function<void()>& work) const;
  /// Calls `work` on rank 0 only; any ranks may call.
  template <class Work>
  void on_main_process(Work&& work) const {
    if (is_main_process()) {
      std::forward<Work>(work)();
    }
  }
  /// This rank's part of `items`: neighbours, the first ranks one more where it does not come out
  /// even; or with `padding` all as many, the last item repeated. No communication.
  template <class T>
  std::vector<T> split_between_processes(const std::vector<T>& items, bool padding = false) const;
  /// The same of the rows of `tensor`.
  at::Tensor split_between_processes(const at::Tensor& tensor, bool padding = false) const;

  bool is_main_process() const noexcept { return process_index() == 0; }
  bool is_local_main_process() const noexcept { return local_process_index() == 0; }
  int process_index() const noexcept;
  int local_process_index() const noexcept;
  int num_processes() const noexcept;
  at::Device device() const noexcept;
  int gradient_accumulation_steps() const noexcept;

  /// Writes its arguments, one after the other, and a newline to stdout, on rank 0 only. Any ranks
  /// may call.
  template <class... Values>
  void print(const Values&... values) const {
    if (is_main_process()) {
      std::ostringstream line;
      (line << ... << values);
      write_line(line.str());
    }
  }
  /// A bar on rank 0's stderr, of `total` steps; nothing on other ranks. Any ranks may call.
  Progress progress(std::string title, std::int64_t total, std::string unit = "samples") const;
  /// What training runs on, a few lines: strategy, communicator and why, models, bytes.
  std::string describe() const;

  // --- weights -----------------------------------------------------------------------------------

  /// Rank 0 writes parameters and buffers as safetensors; a tied weight stands once. `path` is a
  /// file that ends in .safetensors, or a folder, which gets model.safetensors. Returns the file,
  /// once it is whole. Throws CheckpointError, on all ranks, if it cannot be written.
  std::filesystem::path save_model(const ModelHandle& model,
                                   const std::filesystem::path& path) const;
  /// Rank 0 reads what save_model() or Python wrote, and all ranks get it. `strict`: every name
  /// must be on both sides. Throws CheckpointError, on all ranks, before anything was changed.
  void load_model(const ModelHandle& model, const std::filesystem::path& path,
                  bool strict = true) const;
  template <class M>
  std::shared_ptr<M> unwrap_model(const Model<M>& model) const {
    return model.unwrap();
  }

  /// Lets go of what was prepared; what the program holds of it lives on.
  void free_memory();
  /// Waits for every rank and leaves the group; members that communicate throw afterwards.
  void end_training();

 private:
  Scope begin_micro_step(std::initializer_list<const ModelHandle*> models);
  static void write_line(std::string line);

  std::shared_ptr<AcceleratorState> state_;
};

template <class T>
std::vector<T> Accelerator::split_between_processes(const std::vector<T>& items,
                                                    bool padding) const {
  const auto part = split_range(std::ssize(items), process_index(), num_processes());
  std::vector<T> result(items.begin() + part.begin, items.begin() + part.end);
  if (padding && !items.empty()) {
    result.resize(static_cast<std::size_t>(part.longest), items.back());
  }
  return result;
}

}  // namespace muster
