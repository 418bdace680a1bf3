#pragma once

#include <muster/communicator.hpp>

#include "module_view.hpp"

#include <memory>
#include <vector>

namespace muster {

/// While it lives, every training batch norm of a module takes its statistics over the batches of
/// all ranks of `group`, which must be used for nothing else. It is found by its weight or running
/// mean when the operator is called, so the module's code stays as it is, TorchScript's too. One
/// with neither cannot be told from others and keeps its own statistics.
class SyncBatchNorm {
 public:
  SyncBatchNorm(const ModuleView& module, std::shared_ptr<Communicator> group);
  ~SyncBatchNorm();
  SyncBatchNorm(const SyncBatchNorm&) = delete;
  SyncBatchNorm& operator=(const SyncBatchNorm&) = delete;

 private:
  std::vector<at::Tensor> keys_;
};

}  // namespace muster
