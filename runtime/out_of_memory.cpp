#include <muster/communication_error.hpp>
#include <muster/log.hpp>
#include <muster/out_of_memory.hpp>

#include "collectives.hpp"
#include "internals.hpp"
#include "signature.hpp"

#include <ATen/DeviceAccelerator.h>
#include <ATen/TensorOperators.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <new>
#include <string_view>

namespace muster {
namespace {

enum Outcome : std::int64_t { went_well, without_memory, cut_off };

bool is_of_an_allocator(std::string_view text) {
  for (const std::string_view pattern :
       {"can't allocate memory", "not enough memory", "out of memory", "CUDNN_STATUS_ALLOC_FAILED",
        "CUBLAS_STATUS_ALLOC_FAILED"}) {
    if (text.find(pattern) != std::string_view::npos) return true;
  }
  return false;
}

void release_cached(at::Device device) {
  if (!device.is_cpu()) at::accelerator::emptyCache();
}

}  // namespace

bool is_out_of_memory(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const c10::OutOfMemoryError&) {
    return true;
  } catch (const std::bad_alloc&) {
    return true;
  } catch (const Error&) {
    return false;  // Our own may quote what another rank had.
  } catch (const std::exception& other) {
    return is_of_an_allocator(other.what());
  } catch (...) {
    return false;
  }
}

BatchSizeSearch::BatchSizeSearch(Accelerator& accelerator, std::int64_t start, Reduce reduce)
    : accelerator_(accelerator), size_(start), reduce_(std::move(reduce)) {
  if (start < 1) {
    throw ConfigError("find_executable_batch_size: the first size is " + std::to_string(start) +
                      "; 1 or more");
  }
  if (!reduce_) reduce_ = [](std::int64_t size) { return size / 2; };
}

bool BatchSizeSearch::attempt(const std::function<void(std::int64_t)>& work) {
  Outcome mine = went_well;
  std::exception_ptr lost;
  try {
    work(size_);
  } catch (const CommunicationError&) {
    mine = cut_off;
    lost = std::current_exception();
  } catch (...) {
    if (!is_out_of_memory(std::current_exception())) throw;
    mine = without_memory;
  }
  auto& state = Internals::of(accelerator_);
  if (mine == without_memory) {
    log(LogLevel::warning, "out of memory with a batch size of " + std::to_string(size_));
    if (accelerator_.num_processes() > 1) {
      state.abort("rank " + std::to_string(accelerator_.process_index()) +
                  " is out of memory with a batch size of " + std::to_string(size_));
    }
  }
  const auto outcomes = agree(mine, mine != went_well && accelerator_.num_processes() > 1);
  if (std::ranges::all_of(outcomes, [](auto outcome) { return outcome == went_well; })) return true;
  if (std::ranges::none_of(outcomes, [](auto outcome) { return outcome == without_memory; })) {
    if (lost) std::rethrow_exception(lost);
    throw CommunicationError("find_executable_batch_size: another rank was cut off");
  }
  decrease();
  return false;
}

/// What came of the try on each rank. A group that was left for want of memory is replaced.
std::vector<std::int64_t> BatchSizeSearch::agree(std::int64_t outcome, bool group_is_lost) {
  auto& state = Internals::of(accelerator_);
  const std::string operation = "find_executable_batch_size of " + std::to_string(size_);
  if (!group_is_lost) {
    try {
      return collectives::exchange_numbers(state.mesh()->world(), operation, outcome);
    } catch (const CommunicationError&) {
      if (accelerator_.num_processes() == 1) throw;
    }
  }
  accelerator_.free_memory();
  state.rejoin();
  return collectives::exchange_numbers(state.mesh()->world(), operation, outcome);
}

void BatchSizeSearch::decrease() {
  accelerator_.free_memory();
  release_cached(accelerator_.device());
  const auto next = reduce_(size_);
  if (next >= size_) {
    throw ConfigError("find_executable_batch_size: reduce made " + std::to_string(next) + " of " +
                      std::to_string(size_) + "; it has to make less");
  }
  if (next < 1) {
    throw OutOfMemory("find_executable_batch_size: a batch size of " + std::to_string(size_) +
                      " does not fit in memory, and there is none below");
  }
  size_ = next;
}

MicroSteps::MicroSteps(Accelerator& accelerator, const ModelHandle& model, std::int64_t rows)
    : accelerator_(accelerator), model_(model), rows_(rows) {
  if (accelerator.gradient_accumulation_steps() > 1) {
    throw ConfigError(
        "try_step makes micro-steps itself: use it with gradient_accumulation_steps = 1, and give "
        "it the whole batch of the step");
  }
}

at::Tensor MicroSteps::run(const LossOfRows& loss_of) {
  auto& parts = Internals::of(model_).parts;
  if (parts > 1) {
    // Some rank's batch may have fewer rows this time.
    const auto rows =
        collectives::exchange_numbers(Internals::of(accelerator_).data_group(), "try_step", rows_);
    parts = std::min(parts, *std::ranges::min_element(rows));
  }
  for (;;) {
    const auto generators = accelerator_.rng_state();
    std::string report;
    at::Tensor loss;
    closing_ = false;
    try {
      loss = attempt(loss_of);
    } catch (...) {
      if (!is_out_of_memory(std::current_exception())) throw;
      auto use = accelerator_.memory();
      use.resident = use.peak;
      report = std::to_string((rows_ + parts - 1) / parts) + " rows: " + use.to_text();
    }
    if (!report.empty()) leave();
    const auto reports = accelerator_.gather_object(report);
    if (std::ranges::all_of(reports, &std::string::empty)) return loss;
    divide(reports);
    accelerator_.set_rng_state(generators);
  }
}

at::Tensor MicroSteps::attempt(const LossOfRows& loss_of) {
  const auto parts = static_cast<int>(Internals::of(model_).parts);
  at::Tensor sum;
  for (int part = 0; part < parts; ++part) {
    const auto range = split_range(rows_, part, parts);
    const auto rows = range.end - range.begin;
    closing_ = part + 1 == parts;
    const auto micro_step =
        closing_ ? accelerator_.accumulate(model_) : accelerator_.no_sync(model_);
    const auto loss = loss_of(range.begin, rows);
    // The engine divides by the number of micro-steps; each counts by its rows.
    const double share = static_cast<double>(rows) / static_cast<double>(rows_);
    accelerator_.backward(parts == 1 ? loss : loss * (share * parts));
    const auto mine = loss.detach() * share;
    sum = sum.defined() ? sum + mine : mine;
  }
  return sum;
}

/// The other ranks are in the reductions of this step, or will be: this one takes part, with
/// nothing of its own.
void MicroSteps::leave() {
  auto& model = Internals::of(model_);
  model.strategy->discard_gradients();
  release_cached(accelerator_.device());
  if (!closing_) {
    const auto micro_step = accelerator_.accumulate(model_);
  }
  model.strategy->synchronise();
}

/// On all ranks alike.
void MicroSteps::divide(const std::vector<std::string>& reports) {
  auto& model = Internals::of(model_);
  model.strategy->discard_gradients();
  release_cached(accelerator_.device());
  const auto rows =
      collectives::exchange_numbers(Internals::of(accelerator_).data_group(), "try_step", rows_);
  const auto most = *std::ranges::min_element(rows);
  std::string text;
  for (std::size_t rank = 0; rank < reports.size(); ++rank) {
    if (reports[rank].empty()) continue;
    text += (text.empty() ? "" : "\n") + ("rank " + std::to_string(rank)) +
            " ran out of memory in a micro-step of " + reports[rank];
  }
  if (model.parts >= most) {
    throw OutOfMemory(text + "\na smaller micro-step is not possible: some rank's has one row");
  }
  model.parts = std::min(2 * model.parts, most);
  if (accelerator_.is_main_process()) {
    log(LogLevel::warning, text + "\nall ranks go on with " + std::to_string(model.parts) +
                               " micro-steps a step; the batch stays as it is");
  }
}

}  // namespace muster
