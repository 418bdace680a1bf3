#pragma once

namespace muster::benchmark {

/// A training step of the transformer in fp32 and in bf16, in turn; prints one JSON line.
void compare_precisions(int steps);

}  // namespace muster::benchmark
