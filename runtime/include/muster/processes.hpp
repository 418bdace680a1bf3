#pragma once

#include <muster/busy.hpp>
#include <muster/first_guard.hpp>
#include <muster/progress.hpp>
#include <muster/ranks.hpp>
#include <muster/rng_state.hpp>
#include <muster/split.hpp>

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace muster {

/// What the ranks of a job do together that has to do with no model: order between them, seeds,
/// shares of work. Tensors of all ranks are in its base, Ranks.
///
/// Unless a member says otherwise, every rank calls it, in the same order, from one thread; it
/// blocks at most as long as one communication may take, then throws CommunicationError.
class Processes : public Ranks {
 public:
  // --- order -------------------------------------------------------------------------------------

  /// `label` is told of a rank that waits in vain.
  void wait_for_everyone(std::string_view label = "wait_for_everyone") const;
  /// This rank does what takes its time until the result goes: no hang is seen in it. save_model(),
  /// load_model() and main_process_first() say so themselves. Any ranks may call.
  Busy busy(std::string_view what) const { return Busy(what); }
  /// Calls `work` on rank 0, then on the others. If it throws on rank 0, all throw.
  void main_process_first(const std::function<void()>& work) const;
  /// The same for the rest of a block: `auto first = accelerator.main_process_first();`
  FirstGuard main_process_first() const { return {*this, false}; }
  /// On each host its local rank 0 goes first. The others go on when those of all hosts are done.
  void local_main_process_first(const std::function<void()>& work) const;
  FirstGuard local_main_process_first() const { return {*this, true}; }

  // --- on some ranks; any ranks may call ---------------------------------------------------------

  template <class Work>
  void on_main_process(Work&& work) const {
    if (is_main_process()) std::forward<Work>(work)();
  }
  template <class Work>
  void on_local_main_process(Work&& work) const {
    if (is_local_main_process()) std::forward<Work>(work)();
  }
  template <class Work>
  void on_last_process(Work&& work) const {
    if (is_last_process()) std::forward<Work>(work)();
  }
  /// Throws ConfigError on all ranks if there is no such rank.
  template <class Work>
  void on_process(int index, Work&& work) const {
    if (is_process(index)) std::forward<Work>(work)();
  }

  // --- shares of work; no communication ----------------------------------------------------------

  /// A copy of this rank's part of `items`: neighbours, the first ranks one more where it does not
  /// come out even; or with `padding` all as many, the last item repeated.
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
  /// Of each list or tensor of a map. Throws ConfigError, with the names, unless all are as long.
  template <class T>
  std::map<std::string, T> split_between_processes(const std::map<std::string, T>& columns,
                                                   bool padding = false) const {
    std::vector<std::pair<std::string, std::int64_t>> lengths;
    for (const auto& [name, column] : columns) lengths.emplace_back(name, length_of(column));
    require_equal(lengths);
    std::map<std::string, T> result;
    for (const auto& [name, column] : columns) {
      result.emplace(name, split_between_processes(column, padding));
    }
    return result;
  }

  // --- random numbers; no communication ----------------------------------------------------------

  /// Seeds LibTorch's default generators of all devices: alike on all ranks, or with `per_rank`
  /// from seed + process_index(). The order of data has a seed of its own (AcceleratorOptions).
  void set_seed(std::uint64_t seed, bool per_rank = false) const;
  /// Where this rank's default generators stand.
  RngState rng_state() const;
  /// Generators of devices that this process lacks are left out, and named in a warning.
  void set_rng_state(const RngState& state) const;

  // --- output; any ranks may call ----------------------------------------------------------------

  /// Writes its arguments, one after the other, and a newline to stdout, on rank 0 only.
  template <class... Values>
  void print(const Values&... values) const {
    if (!is_main_process()) return;
    std::ostringstream line;
    (line << ... << values);
    write_line(line.str());
  }
  /// A bar on rank 0's stderr, of `total` steps; nothing on other ranks.
  Progress progress(std::string title, std::int64_t total, std::string unit = "samples") const;

 protected:
  explicit Processes(std::shared_ptr<AcceleratorState> state) : Ranks(std::move(state)) {}
  ~Processes() = default;
  Processes(const Processes&) = delete;
  Processes& operator=(const Processes&) = delete;
  Processes(Processes&&) noexcept = default;
  Processes& operator=(Processes&&) noexcept = default;

 private:
  template <class T>
  static std::int64_t length_of(const std::vector<T>& items) {
    return std::ssize(items);
  }
  static std::int64_t length_of(const at::Tensor& tensor);
  static void require_equal(const std::vector<std::pair<std::string, std::int64_t>>& lengths);
  bool is_process(int index) const;
  static void write_line(std::string line);
};

}  // namespace muster
