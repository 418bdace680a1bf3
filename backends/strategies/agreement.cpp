#include "agreement.hpp"

#include <muster/error.hpp>

#include <ATen/ops/empty.h>

#include <string>

namespace muster {

void throw_disagreement(Communicator& communicator, std::int64_t steps, std::int64_t closings) {
  const auto own = at::empty({2}, at::kLong);
  own[0] = steps;
  own[1] = closings;
  const auto input = own.to(communicator.device());
  const auto output = input.new_empty({std::int64_t{2} * communicator.size()});
  communicator.all_gather(output, input, "place in the training loop").wait();
  const auto all = output.to(at::kCPU);
  const auto* numbers = all.const_data_ptr<std::int64_t>();
  std::string text = "ranks are at different places of the training loop:";
  for (int rank = 0; rank < communicator.size(); ++rank) {
    const auto* const place = numbers + std::ptrdiff_t{2} * rank;
    text += (rank == 0 ? " rank 0 is at step " : "; rank " + std::to_string(rank) + " at step ") +
            std::to_string(place[0]) + ", closing micro-step " + std::to_string(place[1]);
  }
  throw ModelError(text +
                   " (every rank must call backward, step and accumulate equally often, also "
                   "for a batch that it skips)");
}

}  // namespace muster
