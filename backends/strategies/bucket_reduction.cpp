#include "bucket_reduction.hpp"

#include <muster/device.hpp>

#include <string>
#include <utility>

namespace muster {

BucketReduction::BucketReduction(const FlatModel& model, Communicator& communicator,
                                 StrategyCounters& counters)
    : model_(model),
      communicator_(communicator),
      counters_(counters),
      report_(model.buckets().size(), model.slots().size()) {}

void BucketReduction::start(const GradientBuffers& buffers, double weight) {
  take_in(buffers, weight);
  submit(buffers, Reduction::mean);
  ++counters_.overlapped;
}

void BucketReduction::take_in(const GradientBuffers& buffers, double weight) {
  const auto index = works_.size();
  const auto& bucket = model_.buckets()[index];
  for (std::size_t slot = bucket.first; slot < bucket.last; ++slot) {
    report_.used[slot] = buffers.take_in(slot) ? 1 : 0;
    if (broken_.empty() || report_.used[slot] == 0) continue;
    const auto& values = buffers.slice(slot);
    if (!device_kind(values.device()).kernels().unscale(values, 1)) broken_[slot] = true;
  }
  report_.weights[index].set(weight);
}

void BucketReduction::submit(const GradientBuffers& buffers, Reduction reduction) {
  const auto index = works_.size();
  const auto label =
      "gradients " + std::to_string(index + 1) + '/' + std::to_string(model_.buckets().size());
  const auto& flat = buffers.flat(index);
  works_.push_back(reduction == Reduction::sum
                       ? communicator_.all_reduce(flat, ReduceOp::sum, label)
                       : communicator_.all_reduce_mean(flat, buffers.payload(index).numel(),
                                                       report_.weights[index].value(), label));
  ++counters_.reductions;
}

WindowReport BucketReduction::finish(const GradientBuffers& buffers, double weight,
                                     Reduction reduction, WindowReport own) {
  while (works_.size() + 1 < model_.buckets().size()) {
    take_in(buffers, weight);
    submit(buffers, reduction);
  }
  take_in(buffers, weight);
  own.weights = report_.weights;
  own.used = report_.used;
  own.write(buffers.tail());
  submit(buffers, reduction);
  // Taken first: after a lost rank no work of this window may be left for the next.
  auto works = std::exchange(works_, {});
  for (auto& work : works) work.wait();
  own.read(buffers.tail());
  return own;
}

}  // namespace muster
