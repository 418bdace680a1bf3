#pragma once

#include <cstdint>
#include <string>

namespace muster {

/// What fills the memory of one rank, in bytes.
struct MemoryUse {
  std::int64_t parameters = 0;
  std::int64_t buffers = 0;    ///< Of the models, such as statistics of batch norm.
  std::int64_t gradients = 0;  ///< In buckets, which live as long as the model.
  std::int64_t optimizer = 0;  ///< Its state.
  std::int64_t resident = 0;   ///< Of the process, in main memory.
  std::int64_t peak = 0;       ///< The most of it so far.
  /// Of the accelerator's allocator; 0 for a CPU.
  std::int64_t device_allocated = 0, device_reserved = 0, device_peak = 0;
  std::int64_t limit = 0;  ///< What the process may have, the smallest that is known; 0: none.

  /// What is none of the first four, the program itself included: mostly activations and batches.
  std::int64_t others() const noexcept;
  /// "parameters 1.2 GiB, gradients 1.2 GiB, optimizer 2.4 GiB, activations and others 3.1 GiB;
  /// 7.9 GiB resident (at most 8.0 GiB), limit 8.0 GiB"
  std::string to_text() const;
};

}  // namespace muster
