#pragma once

#include <c10/core/GradMode.h>
#include <c10/core/InferenceMode.h>

#include <csignal>

namespace muster {

/// The modes under which every batch is loaded, by whichever thread: nothing is recorded for
/// autograd, and the tensors are ordinary ones even if the loop runs in inference mode.
class LoadScope {
 private:
  c10::InferenceMode no_inference_{false};
  c10::NoGradGuard no_grad_;
};

/// Threads started meanwhile receive no signals but those of their own faults.
class WorkerSignals {
 public:
  WorkerSignals() noexcept;
  ~WorkerSignals();
  WorkerSignals(const WorkerSignals&) = delete;
  WorkerSignals& operator=(const WorkerSignals&) = delete;

 private:
  sigset_t before_;
};

/// Names the calling thread, and has LibTorch's operators run in it alone: workers are the
/// parallelism, and a team of threads for each would crowd out the training.
void enter_worker_thread() noexcept;

}  // namespace muster
