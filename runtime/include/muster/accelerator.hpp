#pragma once

#include <muster/accelerator_options.hpp>
#include <muster/logged_item.hpp>
#include <muster/memory_use.hpp>
#include <muster/precision.hpp>
#include <muster/prepare.hpp>
#include <muster/scope.hpp>
#include <muster/tracker_options.hpp>

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace muster {

/// The face of the runtime: rewrites a model, an optimizer, a scheduler and a data loader for what
/// was launched. What the ranks do together apart from training is in its base Processes, what
/// concerns bf16 and fp16 in Precision.
///
/// Unless a member says otherwise, every rank calls it, in the same order, from one thread; it
/// blocks at most as long as one communication may take, then throws CommunicationError.
/// Accelerators of one process share its group of ranks; each counts its own micro-steps.
class Accelerator : public Precision {
 public:
  /// Joins the ranks that the launcher started, or a world of one. Throws ConfigError for a setting
  /// that cannot be, CommunicationError if a rank does not come.
  explicit Accelerator(const AcceleratorOptions& options = {});
  ~Accelerator();
  Accelerator(Accelerator&&) noexcept;
  Accelerator& operator=(Accelerator&&) noexcept;
  Accelerator(const Accelerator&) = delete;
  Accelerator& operator=(const Accelerator&) = delete;

  /// Modules (std::shared_ptr, TORCH_MODULE holder, torch::jit::Module), optimizers, schedulers and
  /// data loaders, in any order; returns their handles in that order, a single one bare. An
  /// optimizer given as an lvalue must outlive its handle. A scheduler is a Scheduler, or what one
  /// can be made of, for the only optimizer of the call. Throws ModelError, on all ranks, if models
  /// differ between ranks, and if an optimizer updates a tensor that no prepared model holds, a
  /// scheduler moves an optimizer that is not prepared, or a parameter trained in fp16 mode is fp16
  /// itself.
  template <class... Objects>
  auto prepare(Objects&&... objects) {
    return take_all(Adopter(state_), std::forward<Objects>(objects)...);
  }

  /// One module. `evaluation_mode`: for a model that is used and not trained, such as a teacher:
  /// rank 0's weights and nothing else, so no memory for gradients; an optimizer of it is refused.
  template <AnyModule M>
  auto prepare_model(const M& module, ModelOptions options = {}) {
    Adopter adopter(state_);
    if (options.evaluation_mode) adopter.evaluate();
    return take_model(adopter, module);
  }

  // --- the training loop -------------------------------------------------------------------------

  /// A micro-step, for the block that holds the result. Every gradient_accumulation_steps-th one,
  /// and the last batch of the loader, closes the window. Only the models named exchange gradients;
  /// each counts its own micro-steps.
  template <class... Models>
  Scope accumulate(const ModelHandle& model, const Models&... more) {
    return begin_micro_step({&model, &more...});
  }
  /// Backward calls in the block that holds the result stay on this rank, also of micro-steps that
  /// accumulate() begins inside it.
  Scope no_sync(const ModelHandle& model);
  /// Computes gradients. Do not divide the loss: after the window's last backward they are the mean
  /// over its micro-steps and all ranks, in fp16 times the scaler's scale until they are unscaled.
  /// An autocast guard that is open is off meanwhile. Without accumulate() or no_sync() every call
  /// synchronises.
  /// Throws ModelError for what is no loss: not one number, or without a gradient.
  void backward(const at::Tensor& loss);
  /// The same for a loss that is a sum of `count` parts on this rank, such as tokens: gradients are
  /// the mean over all parts of the window on all ranks, however they are split. 0 parts: a sum
  /// that has none. All backwards of a window have counts, on all ranks, or none: else ModelError
  /// when it closes. Several of one micro-step share its count. Throws ConfigError below 0.
  void backward(const at::Tensor& loss_sum, std::int64_t count);
  /// The present micro-step, or before the first any, closes its window. No communication.
  bool sync_gradients() const noexcept;
  /// Some optimizer's newest step() was due and did nothing, since a rank had left its window or,
  /// in fp16, a gradient was not finite. One that is not due is not skipped (Accelerate leaves the
  /// answer of the step before). No communication.
  bool optimizer_step_was_skipped() const noexcept;
  int gradient_accumulation_steps() const noexcept;

  /// Scales the model's gradients so that their global norm is at most max_norm, and returns the
  /// norm before. On a micro-step that only accumulates it does nothing and returns NaN. norm_type:
  /// 2 or infinity, else ConfigError.
  double clip_grad_norm(const ModelHandle& model, double max_norm, double norm_type = 2.0);
  /// The same of some of the model's parameters: the norm is theirs alone, and only they are
  /// scaled; frozen ones do not count. None: 0. Throws ModelError for another tensor that requires
  /// a gradient.
  double clip_grad_norm(const ModelHandle& model, const std::vector<at::Tensor>& parameters,
                        double max_norm, double norm_type = 2.0);
  /// Limits each element to [-value, value]; nothing on a micro-step that only accumulates.
  void clip_grad_value(const ModelHandle& model, double value);

  /// A copy of `loader` whose next epoch, and only that one, begins after `batches` batches of this
  /// rank; they are not loaded. Any ranks may call. Throws ConfigError for fewer than 0.
  template <ShardableLoader Loader>
  Loader skip_first_batches(const Loader& loader, std::int64_t batches) const {
    return loader.skipping(batches);
  }

  /// Runs `loop`, a training loop in which ranks may have different numbers of batches. A rank
  /// whose loop has ended follows the others until the last has: it exchanges gradients (the mean
  /// is over the backwards that there were), clips and steps with them, so that all end with the
  /// same weights. A window of accumulation closes early with the last batch of all only.
  /// `even_batches`: of loaders whose epochs begin meanwhile. Other communication inside `loop`
  /// throws CommunicationError once a rank has run out; so does everything if loops differ
  /// otherwise, or ModelError. An exception of one rank's loop is an Error on the others.
  void join_uneven_inputs(const std::function<void()>& loop,
                          std::optional<bool> even_batches = std::nullopt);

  // --- tracking ----------------------------------------------------------------------------------
  // No communication; any ranks may call. Only rank 0 writes.

  /// Starts the trackers that log_with names, and options.trackers, for log(). They write into the
  /// folder `project` of project_dir, behind what is there. `config`: hyper-parameters. Trackers
  /// that ran before are ended. Throws ConfigError for a request that cannot be, TrackerError for
  /// trouble: see TrackerTrouble.
  void init_trackers(const std::string& project, const TrackedItems& config = {},
                     const TrackerOptions& options = {});
  /// Hands values to the trackers: log({{"loss", loss}, {"epoch", epoch}}, step). Without `step`,
  /// the optimizers' steps so far, or without an optimizer one more than last time. Without a
  /// tracker nothing happens. Throws ConfigError, on all ranks, for a tensor that is not one real
  /// number.
  void log(const std::vector<LoggedItem>& values, std::optional<std::int64_t> step = std::nullopt);
  /// The tracker that runs by this name; where it does not run, as on other ranks, one that does
  /// nothing. Throws ConfigError for one that was not asked for. Until the trackers end.
  Tracker& get_tracker(std::string_view name);

  // --- weights -----------------------------------------------------------------------------------

  /// Rank 0 writes parameters and buffers as safetensors; a tied weight stands once. `path` is a
  /// file that ends in .safetensors, or a folder, which gets model.safetensors. Returns the file,
  /// once it is whole; only rank 0's host may see it. Throws CheckpointError, on all ranks, if it
  /// cannot be written.
  std::filesystem::path save_model(const ModelHandle& model,
                                   const std::filesystem::path& path) const;
  /// Rank 0 reads what save_model() or Python wrote, and all ranks get it. A tied weight may stand
  /// in the file under any of its names. Numbers are converted to the model's dtype, but no complex
  /// one to a real one, nor a fraction to a whole number. `strict`: every name must be on both
  /// sides. Throws CheckpointError, on all ranks, before anything was changed.
  void load_model(const ModelHandle& model, const std::filesystem::path& path,
                  bool strict = true) const;
  template <class M>
  std::shared_ptr<M> unwrap_model(const Model<M>& model) const {
    return model.unwrap();
  }

  /// What training runs on, a few lines: strategy, communicator and why, models, bytes. Any ranks
  /// may call.
  std::string describe() const;
  /// What this rank's memory holds. Any ranks may call.
  MemoryUse memory() const;
  /// Lets go of what was prepared; what the program holds of it lives on. No communication.
  void free_memory();
  /// Ends the trackers, leaves the group, and waits until every rank has come here. It has left
  /// also if that throws, as after a lost rank; the Accelerator's members that communicate throw
  /// from then on. Handles that the program still holds keep their own end of the group.
  void end_training();

 private:
  void end_trackers();
  void run_backward(const at::Tensor& loss, std::optional<std::int64_t> count);
  Scope begin_micro_step(std::initializer_list<const ModelHandle*> models);
};

}  // namespace muster
