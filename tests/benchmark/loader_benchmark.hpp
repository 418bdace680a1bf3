#pragma once

namespace muster::benchmark {

/// Prints samples a second of a DataLoader over tensors in memory, and of gathering the same rows
/// by hand, after it has compared what both give.
void measure_loader(int workers, int epochs);

/// Prints what a step costs whose reader takes as long as the step, with and without reading ahead.
void measure_prefetch(int steps);

}  // namespace muster::benchmark
