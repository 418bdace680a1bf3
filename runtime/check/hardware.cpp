// What this rank has is what LibTorch can use, and it computes right.

#include <muster/contract.hpp>
#include <muster/device.hpp>

#include "check/checks.hpp"

#include <ATen/Parallel.h>
#include <ATen/Version.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/mm.h>
#include <torch/version.h>

#include <array>
#include <cstddef>
#include <cstdlib>
#include <sched.h>
#include <string>

namespace muster::check {
namespace {

/// Empty if the system does not tell.
std::vector<int> allowed_cpus() {
  std::array<cpu_set_t, 16> sets{};  // 16384 CPUs.
  std::vector<int> cpus;
  if (::sched_getaffinity(0, sizeof sets, sets.data()) != 0) return cpus;
  for (std::size_t cpu = 0; cpu < sets.size() * CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET_S(cpu, sizeof sets, sets.data())) cpus.push_back(static_cast<int>(cpu));
  }
  return cpus;
}

/// Whole numbers in floats: the product is exact, however it is computed.
void check_product(Bench& bench, at::ScalarType dtype) {
  constexpr std::int64_t side = 96;
  const auto numbers = at::arange(side * side, at::kLong);
  const auto a = numbers.remainder(17).sub(8).view({side, side});
  const auto b = numbers.remainder(13).sub(6).view({side, side});
  const auto found = at::mm(a.to(dtype), b.to(dtype));
  bench.expect_same("a product of matrices", at::mm(a, b).to(dtype), found);
}

void check_threads(Bench& bench) {
  const char* const asked = std::getenv("OMP_NUM_THREADS");
  if (asked == nullptr) return;
  const auto found = std::to_string(at::get_num_threads());
  bench.expect(found == asked, "threads of LibTorch", std::string("OMP_NUM_THREADS = ") + asked,
               found);
}

}  // namespace

RankFacts rank_facts() {
  RankFacts facts;
  facts.cpus = allowed_cpus();
  facts.threads = at::get_num_threads();
  facts.device = "cpu";
  facts.libtorch = TORCH_VERSION;
  return facts;
}

void check_hardware(Bench& bench) {
  const auto& kind = device_kind(at::kCPU);
  check_threads(bench);
  const auto memory = kind.memory_bytes(0);
  bench.expect(memory > 0, "memory", "some", std::to_string(memory) + " bytes");
  for (const auto dtype : {at::kFloat, at::kDouble}) check_product(bench, dtype);
  bool other_kinds = false;
  for (const auto* other : device_kinds()) other_kinds = other_kinds || other->name() != "cpu";
  if (!other_kinds) bench.not_checked("GPUs and nccl: this build's runtime computes on the CPU");
  bench.looked_at("threads, CPUs, memory; exact products");
}

}  // namespace muster::check
