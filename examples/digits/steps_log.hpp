#pragma once

#include <muster/accelerator.hpp>

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <filesystem>
#include <fstream>

namespace digits {

/// A file with the loss of every micro-batch of the job, in their global order and without
/// rounding: two runs that compute the same write the same bytes. Without a path it does nothing.
class StepsLog {
 public:
  /// Throws std::runtime_error if rank 0 cannot write the file.
  StepsLog(const muster::Accelerator& accelerator, const std::filesystem::path& path);
  /// Every rank calls it once a micro-step. loss: one number.
  void add(const at::Tensor& loss);

 private:
  const muster::Accelerator& accelerator_;
  bool wanted_;
  std::int64_t count_ = 0;
  std::ofstream file_;  ///< Of rank 0.
};

}  // namespace digits
