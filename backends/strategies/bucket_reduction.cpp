#include "bucket_reduction.hpp"

#include <string>
#include <utility>

namespace muster {

BucketReduction::BucketReduction(const FlatModel& model, Communicator& communicator,
                                 StrategyCounters& counters)
    : model_(model),
      communicator_(communicator),
      counters_(counters),
      report_(model.buckets().size(), model.slots().size()) {}

void BucketReduction::start(const GradientBuffers& buffers, double micro_steps,
                            bool inside_backward) {
  const auto index = works_.size();
  const auto& bucket = model_.buckets()[index];
  for (std::size_t slot = bucket.first; slot < bucket.last; ++slot) {
    report_.used[slot] = buffers.take_in(slot) ? 1 : 0;
  }
  report_.micro_steps[index] = micro_steps;
  if (index + 1 < model_.buckets().size()) submit(buffers, inside_backward);
}

void BucketReduction::submit(const GradientBuffers& buffers, bool inside_backward) {
  const auto index = works_.size();
  const auto label =
      "gradients " + std::to_string(index + 1) + '/' + std::to_string(model_.buckets().size());
  works_.push_back(communicator_.all_reduce(buffers.flat(index), ReduceOp::sum, label));
  ++counters_.reductions;
  if (inside_backward) ++counters_.overlapped;
}

WindowReport BucketReduction::finish(const GradientBuffers& buffers, double micro_steps,
                                     WindowReport own) {
  while (works_.size() + 1 < model_.buckets().size()) start(buffers, micro_steps, false);
  start(buffers, micro_steps, false);
  own.micro_steps = report_.micro_steps;
  own.used = report_.used;
  own.write(buffers.tail());
  submit(buffers, false);
  // Taken first: after a lost rank no work of this window may be left for the next.
  auto works = std::exchange(works_, {});
  for (auto& work : works) work.wait();
  own.read(buffers.tail());
  return own;
}

}  // namespace muster
