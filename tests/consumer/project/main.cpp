#include <muster/muster.hpp>

#include <ATen/ops/ones.h>

#include <cstdio>

int main() {
  muster::Accelerator accelerator;
  const auto sum = accelerator.reduce(at::ones({1})).item<float>();
  if (accelerator.is_main_process()) {
    std::printf("%d ranks, sum %g\n", accelerator.num_processes(), static_cast<double>(sum));
  }
}
