#pragma once

#include <muster/grad_scaler.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace muster {

/// What a program decides itself. A setting left out here comes from the environment (so from flags
/// and files of `muster launch`), then from its default. One that is given here wins over what a
/// person gave; rank 0 then says so once, with both values.
struct AcceleratorOptions {
  std::optional<int> gradient_accumulation_steps{};  ///< Micro-steps a step; default 1.
  /// The last batch of a loader closes the window, however short it is.
  bool sync_with_dataloader = true;
  std::optional<std::string> strategy{};      ///< auto, ddp.
  std::optional<std::string> communicator{};  ///< auto, self, gloo.
  /// What models compute in: no (fp32), bf16, fp16; default no.
  std::optional<std::string> mixed_precision{};
  GradScalerOptions grad_scaler{};     ///< Of fp16.
  std::optional<std::int64_t> seed{};  ///< Of the order of shuffled data; default 42.
  std::optional<double> bucket_mb{};   ///< Gradient bucket, MiB; default 25.
  /// For one communication; default 1800 s.
  std::optional<std::chrono::duration<double>> comm_timeout{};
  /// Training batch norms take their statistics over the batches of all ranks, which must all run
  /// the forward then; default no.
  std::optional<bool> sync_batch_norm{};
  std::optional<bool> debug{};  ///< Ranks compare labels of collectives too.
  /// Trackers that init_trackers starts: "jsonl,html"; also csv, tensorboard, all; default none.
  std::optional<std::string> log_with{};
  std::optional<std::string> project_dir{};  ///< Of the folders of trackers; default "runs".
};

}  // namespace muster
