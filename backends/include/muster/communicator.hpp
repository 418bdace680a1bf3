#pragma once

#include <muster/operation.hpp>
#include <muster/windows.hpp>
#include <muster/work.hpp>

#include <ATen/core/Tensor.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string_view>

namespace muster {

/// How a reduce_scatter reduces and cuts.
struct ReduceScatterOptions {
  ReduceOp op = ReduceOp::sum;
  bool accumulate = false;                 ///< Add to what the output holds; sums only.
  std::span<const std::int64_t> counts{};  ///< Elements each rank gets; empty: all the same.
};

/// What a communicator can do, asked before it is used.
struct Capabilities {
  bool ordered_sums =
      false;  ///< Sums fold the ranks in rank order: the same bits in every run and for any cut.
  bool asynchronous = false;   ///< Operations run while the caller computes.
  bool one_sided = false;      ///< windows() is not null.
  bool shared_memory = false;  ///< allocate() gives memory that peers read directly.
};

/// One process's end of a group of ranks.
///
/// All ranks of a group must start the same operations in the same order; operations start in the
/// order of their calls. Tensors must be contiguous, on device(), and unchanged until the work is
/// done. Any of these throws ConfigError for an argument that cannot be right (shape, dtype,
/// device, peer), and CommunicationError once the group has failed. Any thread may call, one at a
/// time; abort() and operations() may come from any thread at any time.
///
/// Destruction lets operations that are under way end and tells the peers that this rank leaves:
/// it may take a second or two, and never longer, however slow a peer is. It does not throw.
class Communicator {
 public:
  virtual ~Communicator();
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  virtual std::string_view name() const noexcept = 0;  ///< "self", "gloo", ...
  virtual Capabilities capabilities() const noexcept = 0;
  int rank() const noexcept { return rank_; }
  int size() const noexcept { return size_; }
  std::chrono::milliseconds timeout() const noexcept { return timeout_; }
  at::Device device() const noexcept { return device_; }
  std::uint64_t operations() const noexcept { return sequence_; }  ///< Started so far.

  /// tensor: any shape, equal on all ranks; afterwards each rank holds the reduction over ranks.
  Work all_reduce(at::Tensor tensor, ReduceOp op, std::string_view label);
  /// The same from `input` into `output` of another floating dtype, for example bf16 into fp32.
  Work all_reduce(at::Tensor output, at::Tensor input, ReduceOp op, std::string_view label);
  /// tensor: of a floating dtype. Afterwards its first `divided` elements, equal on all ranks, hold
  /// the sum over ranks divided once by the sum of the ranks' `count`s, and the others the plain
  /// sum. The quotient is sum * (1 / counts) as Kernels::scale computes it, before the one rounding
  /// to a narrow dtype. Counts that add up to 0 divide nothing.
  Work all_reduce_mean(at::Tensor tensor, std::int64_t divided, double count,
                       std::string_view label);
  /// input: [sum of counts]; output: [counts[rank]], of the same or a wider dtype. With
  /// `accumulate` the ranks' parts are added to output one after the other, in rank order.
  Work reduce_scatter(at::Tensor output, at::Tensor input, const ReduceScatterOptions& options,
                      std::string_view label);
  Work reduce_scatter(at::Tensor output, at::Tensor input, std::string_view label) {
    return reduce_scatter(std::move(output), std::move(input), {}, label);
  }
  /// input: [n, ...]; output: [size * n, ...] in rank order; with `counts` (elements), ranks may
  /// differ.
  Work all_gather(at::Tensor output, at::Tensor input, std::span<const std::int64_t> counts,
                  std::string_view label);
  Work all_gather(at::Tensor output, at::Tensor input, std::string_view label) {
    return all_gather(std::move(output), std::move(input), {}, label);
  }
  /// tensor: any shape, equal on all ranks; afterwards each rank holds root's values.
  Work broadcast(at::Tensor tensor, int root, std::string_view label);
  /// Part p of input goes to rank p; part p of output comes from rank p. Counts in elements; empty:
  /// equal parts.
  Work all_to_all(at::Tensor output, at::Tensor input, std::span<const std::int64_t> output_counts,
                  std::span<const std::int64_t> input_counts, std::string_view label);
  Work send(at::Tensor tensor, int peer, int tag, std::string_view label);
  Work receive(at::Tensor tensor, int peer, int tag, std::string_view label);
  /// Done when every rank has started it.
  Work barrier(std::string_view label);

  /// Collective: makes a group of the ranks that gave the same `color`, ordered by (key, rank).
  /// A negative color joins none and gets null.
  virtual std::unique_ptr<Communicator> split(int color, int key) = 0;
  /// Collective, like split, for callers that know all groups: this rank's is `ranks`, in this
  /// order. The lists that the ranks give are equal or have no rank in common.
  virtual std::unique_ptr<Communicator> subgroup(std::span<const int> ranks);
  /// A tensor [numel] in memory that this communicator handles best (registered or shared).
  virtual at::Tensor allocate(std::int64_t numel, at::ScalarType dtype);
  virtual Windows* windows() noexcept { return nullptr; }

  /// Operations between begin_group and end_group may be started together; the backend decides.
  virtual void begin_group() {}
  virtual void end_group() {}

  /// Fails every pending and future operation of this rank with CommunicationError(reason), and
  /// makes peers that wait for it fail soon. The group is lost; a new one can be connected.
  virtual void abort(std::string_view reason) noexcept = 0;

 protected:
  Communicator(int rank, int size, at::Device device, std::chrono::milliseconds timeout);

  /// Starts a checked operation, which the base class has given a sequence number. Calls come one
  /// at a time. Null if it is done already.
  virtual std::shared_ptr<PendingOperation> start(Operation operation) = 0;

 private:
  Work submit(Operation operation, std::string_view label);

  int rank_, size_;
  at::Device device_;
  std::chrono::milliseconds timeout_;
  std::mutex mutex_;
  std::atomic<std::uint64_t> sequence_ = 0;
};

}  // namespace muster
