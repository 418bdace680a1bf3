#pragma once

#include <muster/busy.hpp>
#include <muster/progress.hpp>
#include <muster/split.hpp>

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace muster {

struct AcceleratorState;

/// The ranks of a job: which one this is, and what they do together. The part of Accelerator that
/// has to do with no model.
///
/// Unless a member says otherwise, every rank calls it, in the same order, from one thread; it
/// blocks at most as long as one communication may take, then throws CommunicationError.
class Processes {
 public:
  int process_index() const noexcept;
  int local_process_index() const noexcept;
  int num_processes() const noexcept;
  bool is_main_process() const noexcept { return process_index() == 0; }
  bool is_local_main_process() const noexcept { return local_process_index() == 0; }
  at::Device device() const noexcept;

  // --- tensors of all ranks ----------------------------------------------------------------------
  // Dense tensors of any dtype and strides. Results carry no gradient. What ranks call is compared
  // first. Where it differs (operation, arguments, shape, dtype) all of them throw ModelError with
  // what each has; where it is the same and cannot be (an undefined tensor, one of more than 8
  // dimensions, arguments out of range) all throw ConfigError.

  /// tensor: [n, ...]; returns [num_processes * n, ...] in rank order; a 0-dim tensor gives
  /// [num_processes].
  at::Tensor gather(const at::Tensor& tensor) const;
  /// gather() of ranks that may have different numbers of rows, less the samples that were repeated
  /// to complete the last batch. In such a batch it needs one row a sample, or equally many, the
  /// same on all ranks, and throws as above for anything else: a 0-dim tensor has repeated samples
  /// inside it already.
  at::Tensor gather_for_metrics(const at::Tensor& tensor) const;
  template <class... Tensors>
    requires(sizeof...(Tensors) > 0)
  auto gather_for_metrics(const at::Tensor& first, const Tensors&... more) const {
    return std::tuple{gather_for_metrics(first), gather_for_metrics(more)...};
  }
  /// reduction: "sum" or "mean". Sums keep the dtype (bool gives int64); means of whole numbers are
  /// float. float8 is refused: convert it first.
  at::Tensor reduce(const at::Tensor& tensor, std::string_view reduction = "sum") const;
  /// Overwrites `tensor`, which may be a view, with that of rank `from`, and returns it.
  at::Tensor broadcast(at::Tensor tensor, int from = 0) const;
  /// Makes dimension `dim` as long as the longest of any rank, with `value` after the tensor's own
  /// elements, or before them. A 0-dim tensor is copied.
  at::Tensor pad_across_processes(const at::Tensor& tensor, std::int64_t dim = 0, double value = 0,
                                  bool pad_first = false) const;

  // --- flow --------------------------------------------------------------------------------------

  /// `label` is told of a rank that waits in vain.
  void wait_for_everyone(std::string_view label = "wait_for_everyone") const;
  /// This rank does what takes its time until the result goes: no hang is seen in it. save_model(),
  /// load_model() and main_process_first() say so themselves. Any ranks may call.
  Busy busy(std::string_view what) const { return Busy(what); }
  /// Calls `work` on rank 0, then on the others. If it throws on rank 0, all throw.
  void main_process_first(const std::function<void()>& work) const;
  /// Calls `work` on rank 0 only; any ranks may call.
  template <class Work>
  void on_main_process(Work&& work) const {
    if (is_main_process()) std::forward<Work>(work)();
  }
  /// A copy of this rank's part of `items`: neighbours, the first ranks one more where it does not
  /// come out even; or with `padding` all as many, the last item repeated. No communication.
  template <class T>
  std::vector<T> split_between_processes(const std::vector<T>& items, bool padding = false) const {
    const auto part = split_range(std::ssize(items), process_index(), num_processes());
    std::vector<T> result(items.begin() + part.begin, items.begin() + part.end);
    if (padding && !items.empty()) {
      result.resize(static_cast<std::size_t>(part.longest), items.back());
    }
    return result;
  }
  /// The same of the rows of `tensor`, as a view of it unless rows were added. Throws ConfigError
  /// for a tensor without rows (undefined or 0-dim).
  at::Tensor split_between_processes(const at::Tensor& tensor, bool padding = false) const;

  /// Writes its arguments, one after the other, and a newline to stdout, on rank 0 only. Any ranks
  /// may call.
  template <class... Values>
  void print(const Values&... values) const {
    if (!is_main_process()) return;
    std::ostringstream line;
    (line << ... << values);
    write_line(line.str());
  }
  /// A bar on rank 0's stderr, of `total` steps; nothing on other ranks. Any ranks may call.
  Progress progress(std::string title, std::int64_t total, std::string unit = "samples") const;

 protected:
  explicit Processes(std::shared_ptr<AcceleratorState> state) : state_(std::move(state)) {}
  ~Processes() = default;
  Processes(const Processes&) = delete;
  Processes& operator=(const Processes&) = delete;
  Processes(Processes&&) noexcept = default;
  Processes& operator=(Processes&&) noexcept = default;

  std::shared_ptr<AcceleratorState> state_;

 private:
  static void write_line(std::string line);
};

}  // namespace muster
