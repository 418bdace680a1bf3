#include "backward_watch.hpp"

#include <torch/csrc/autograd/engine.h>

namespace muster {

BackwardWatch::BackwardWatch() : running_(std::make_shared<std::set<int>>()) {}

void BackwardWatch::running() {
  const int task = torch::autograd::get_current_graph_task_id();
  if (!running_->insert(task).second) return;
  // Runs only if the whole task succeeds.
  torch::autograd::Engine::get_default_engine().queue_callback(
      [tasks = running_, task] { tasks->erase(task); });
}

}  // namespace muster
