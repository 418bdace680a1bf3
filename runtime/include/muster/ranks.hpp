#pragma once

#include <muster/structure.hpp>

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace muster {

struct AcceleratorState;

/// The ranks of a job: which one this is, and tensors and texts of all of them. A base of
/// Accelerator; a copy is another handle of the same ranks, which metrics keep.
///
/// Unless a member says otherwise, every rank calls it, in the same order, from one thread; it
/// blocks at most as long as one communication may take, then throws CommunicationError.
///
/// Where a member takes a tensor it also takes a std::vector, std::array, std::tuple, std::pair,
/// std::optional, or std::map of names, of such, and returns the like, moved in one communication.
/// Tensors are dense, of any dtype and strides. Results carry no gradient. What ranks call is
/// compared first. Where it differs (operation, arguments, structure, shape, dtype) all of them
/// throw ModelError with what each has; where it is the same and cannot be (an undefined tensor,
/// one of more than 8 dimensions, arguments out of range) all throw ConfigError.
class Ranks {
 public:
  int process_index() const noexcept;
  int local_process_index() const noexcept;
  int num_processes() const noexcept;
  int num_hosts() const noexcept;
  bool is_main_process() const noexcept { return process_index() == 0; }
  bool is_local_main_process() const noexcept { return local_process_index() == 0; }
  bool is_last_process() const noexcept { return process_index() == num_processes() - 1; }
  at::Device device() const noexcept;

  // --- tensors of all ranks ----------------------------------------------------------------------

  /// tensor: [n, ...]; returns [num_processes * n, ...] in rank order; a 0-dim tensor gives
  /// [num_processes].
  at::Tensor gather(const at::Tensor& tensor) const;
  template <NestedTensors S>
  S gather(const S& tensors) const {
    return with_leaves(tensors, gather_leaves(leaves_of_structure(tensors), false));
  }
  /// gather() of ranks that may have different numbers of rows, none too: [sum of n, ...].
  at::Tensor gather_uneven(const at::Tensor& tensor) const;
  template <NestedTensors S>
  S gather_uneven(const S& tensors) const {
    return with_leaves(tensors, gather_leaves(leaves_of_structure(tensors), true));
  }
  /// gather_uneven() less the samples that were repeated to complete the last batch. In such a
  /// batch it needs one row a sample, or equally many, the same on all ranks, and throws as above
  /// for anything else: a 0-dim tensor has repeated samples inside it already.
  at::Tensor gather_for_metrics(const at::Tensor& tensor) const;
  template <NestedTensors S>
  S gather_for_metrics(const S& tensors) const {
    return with_leaves(tensors, gather_leaves_for_metrics(leaves_of_structure(tensors)));
  }
  template <TensorStructure... More>
    requires(sizeof...(More) > 0)
  auto gather_for_metrics(const at::Tensor& first, const More&... more) const {
    return gather_for_metrics(std::tuple{first, more...});
  }
  /// A view of this rank's rows less those of repeated samples, as gather_for_metrics() leaves them
  /// out. No communication; throws ConfigError where it would.
  at::Tensor real_rows(const at::Tensor& tensor) const;

  /// reduction: "sum", "mean", "max" or "min" ("none", which Accelerate takes and sums, is
  /// refused). Sums keep the dtype (bool gives int64); means of whole numbers are float; max and
  /// min of bool are "any" and "all", and NaN wins. float8 is refused: convert it first.
  at::Tensor reduce(const at::Tensor& tensor, std::string_view reduction = "sum") const;
  template <NestedTensors S>
  S reduce(const S& tensors, std::string_view reduction = "sum") const {
    return with_leaves(tensors, reduce_leaves(leaves_of_structure(tensors), reduction));
  }
  /// Overwrites `tensor`, which may be a view, with that of rank `from`, and returns it.
  at::Tensor broadcast(at::Tensor tensor, int from = 0) const;
  template <NestedTensors S>
  S broadcast(S tensors, int from = 0) const {
    broadcast_leaves(leaves_of_structure(tensors), from);
    return tensors;
  }
  /// Makes dimension `dim` as long as the longest of any rank, with `value` after the tensor's own
  /// elements, or before them. A 0-dim tensor is copied.
  at::Tensor pad_across_processes(const at::Tensor& tensor, std::int64_t dim = 0, double value = 0,
                                  bool pad_first = false) const;
  template <NestedTensors S>
  S pad_across_processes(const S& tensors, std::int64_t dim = 0, double value = 0,
                         bool pad_first = false) const {
    return with_leaves(tensors, pad_leaves(leaves_of_structure(tensors), dim, value, pad_first));
  }
  /// Each rank's part of the rows of rank `from`'s tensor, cut as split_between_processes() cuts.
  /// The other ranks' argument does not count. Each part goes to its rank only.
  at::Tensor scatter(const at::Tensor& rows, int from = 0) const;
  /// parts: of rank `from`, one a rank, of any shapes and dtypes; returns this rank's.
  at::Tensor scatter(const std::vector<at::Tensor>& parts, int from = 0) const;

  // --- bytes and texts of all ranks --------------------------------------------------------------

  /// Texts, bytes, JSON, of any length, in rank order.
  std::vector<std::string> gather_object(std::string_view object) const;
  /// That of rank `from`; the other ranks' argument does not count.
  std::string broadcast_object(std::string_view object, int from = 0) const;

  /// Any rank, without communication: the next check_trigger() is true.
  void set_trigger() noexcept;
  /// True on all ranks if set_trigger() was called on one since the last call.
  bool check_trigger();

 protected:
  explicit Ranks(std::shared_ptr<AcceleratorState> state) : state_(std::move(state)) {}

  std::shared_ptr<AcceleratorState> state_;

 private:
  friend struct Internals;
  using Leaves = std::vector<TensorLeaf>;
  using Tensors = std::vector<at::Tensor>;
  Tensors gather_leaves(const Leaves& leaves, bool uneven) const;
  Tensors gather_leaves_for_metrics(Leaves leaves) const;
  Tensors reduce_leaves(const Leaves& leaves, std::string_view reduction) const;
  void broadcast_leaves(const Leaves& leaves, int from) const;
  Tensors pad_leaves(const Leaves& leaves, std::int64_t dim, double value, bool pad_first) const;
};

}  // namespace muster
