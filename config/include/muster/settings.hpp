#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace muster {

using Seconds = std::chrono::duration<double>;

/// A value or the word `auto`: decided later, from what is found.
template <class T>
struct AutoOr {
  std::optional<T> value;  ///< Nothing: auto.

  constexpr AutoOr() = default;
  constexpr AutoOr(T given) : value(std::move(given)) {}  // NOLINT(google-explicit-constructor)
  constexpr bool is_auto() const noexcept { return !value.has_value(); }
  bool operator==(const AutoOr&) const = default;
};

/// [launch]: how many ranks, on what, and how they are looked after.
struct LaunchSettings {
  AutoOr<int> num_processes;  ///< Ranks in all; auto: one a device, 1 on CPU.
  /// Ranks on this host; decides the same as num_processes.
  std::optional<AutoOr<int>> nproc_per_node;
  std::vector<std::string> devices{"auto"};  ///< auto, cpu, cuda, or indices / UUIDs in rank order.
  bool pin_devices = false;                  ///< Each rank sees one device.
  bool oversubscribe = false;                ///< More ranks than devices are allowed.
  std::string master_addr;                   ///< Empty: loopback.
  int master_port = 0;                       ///< 0: a free one; several hosts: 29500.
  int nnodes = 1;                            ///< Hosts, each with a launcher of its own.
  AutoOr<int> node_rank;                     ///< Which one this is; auto: by address and arrival.
  std::string bind_addr;                     ///< Where node 0 listens; empty: on master_addr.
  Seconds rdzv_timeout{600};                 ///< Until all hosts have joined.
  std::string run_id;                        ///< Empty: node 0 makes one up.
  std::string token_file;                    ///< Empty: MUSTER_TOKEN, or none.
  Seconds comm_timeout{1800};
  Seconds grace{30};                    ///< From the first signal to SIGKILL.
  std::optional<Seconds> timeout;       ///< For the whole job.
  std::optional<Seconds> hang_timeout;  ///< Without a step; none: steps are not watched.
  int max_restarts = 0;                 ///< Of all ranks, after one failed.
  std::string restart_on = "any";       ///< Exit codes that are restarted after: any | 1,134-139.
  std::string standard_input = "0";     ///< key `stdin`: a rank, all, none.
  /// Before each line of several ranks; {rank} {local_rank} {node} {host}.
  std::string prefix = "[{rank}] ";
  bool no_prefix = false;
  std::string console_ranks = "all";  ///< 0,3-5 | all | none.
  std::string log_dir;                ///< Empty: no files.
  AutoOr<int> threads;                ///< OMP_NUM_THREADS of a rank.
  std::string bind = "auto";          ///< auto, none, node, core: CPUs and memory of a rank.
  std::map<std::string, std::string> env;
  std::vector<std::string> unset_env;
  std::string wrap;                ///< A command in front of the program's; empty: none.
  std::string wrap_ranks = "all";  ///< Which ranks get it: 0,3-5 | all | none.
  bool stop_on_exec = false;       ///< Ranks stop before the first instruction of their program.
};

/// [train]: what the program's runtime does.
struct TrainSettings {
  std::string strategy = "auto";       ///< auto, ddp.
  std::string communicator = "auto";   ///< auto, self, shm, gloo.
  std::string mixed_precision = "no";  ///< no, bf16, fp16.
  int gradient_accumulation_steps = 1;
  std::int64_t seed = 42;                     ///< Of shuffling (seed, epoch).
  bool sync_batch_norm = false;               ///< Batch norm over the batches of all ranks.
  double bucket_mb = 25;                      ///< Gradient bucket, MiB; the first is 1 MiB.
  bool debug = false;                         ///< Ranks compare labels of collectives too.
  std::vector<std::string> log_with{"none"};  ///< jsonl, csv, tensorboard, html; or all, none.
  std::string project_dir = "runs";           ///< Of the folders of trackers.
};

/// [log]
struct LogSettings {
  std::string level = "info";
};

struct Settings {
  LaunchSettings launch;
  TrainSettings train;
  LogSettings log;
};

}  // namespace muster
