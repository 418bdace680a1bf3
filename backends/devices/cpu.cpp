#include "devices/cpu/loops.hpp"
#include "devices/kinds.hpp"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/cpu/Utils.h>

#include <algorithm>
#include <array>
#include <mutex>
#include <sys/sysinfo.h>

namespace muster {
namespace {

// LibTorch's names of what multiplies matrices of these.
constexpr std::array brain_features{"avx512_bf16", "amx_bf16", "arm_bf16", "bf16"};
constexpr std::array half_features{"avx512_fp16", "amx_fp16", "fp16_arith", "fp16"};

template <class Capabilities, class Names>
bool has_any(const Capabilities& capabilities, const Names& names) {
  return std::ranges::any_of(names, [&](const char* name) {
    const auto found = capabilities.find(name);
    return found != capabilities.end() && found->second.isBool() && found->second.toBool();
  });
}

class Cpu final : public DeviceKind {
 public:
  std::string_view name() const noexcept override { return "cpu"; }
  int count() const override { return 1; }
  std::string description(int) const override { return "CPU"; }

  std::uint64_t memory_bytes(int) const override {
    struct sysinfo information {};
    return sysinfo(&information) == 0 ? std::uint64_t{information.totalram} * information.mem_unit
                                      : 0;
  }

  bool supports(at::ScalarType dtype) const override {
    return dtype != at::ScalarType::Undefined && dtype != at::ScalarType::NumOptions;
  }

  Autocasting autocasting(at::ScalarType dtype) const override {
    if (dtype != at::kBFloat16 && dtype != at::kHalf) return Autocasting::none;
    const bool brain = dtype == at::kBFloat16;
    const auto has = at::cpu::get_cpu_capabilities();
    const bool fast = has_any(has, brain ? brain_features : half_features);
    return fast ? Autocasting::fast : Autocasting::slow;
  }

  at::Tensor pinned(at::Tensor tensor) const override { return tensor; }

  at::Tensor rng_state(int) const override {
    auto generator = at::detail::getDefaultCPUGenerator();
    const std::lock_guard lock(generator.mutex());
    return generator.get_state();
  }

  void set_rng_state(int, const at::Tensor& state) const override {
    auto generator = at::detail::getDefaultCPUGenerator();
    const std::lock_guard lock(generator.mutex());
    generator.set_state(state);
  }

  void synchronise(int) const override {}

  const Kernels& kernels() const noexcept override {
    static constexpr Kernels table{cpu::sum_into, cpu::square_sum, cpu::scale, cpu::cast,
                                   cpu::unscale};
    return table;
  }
};

}  // namespace

const DeviceKind& cpu_kind() noexcept {
  static const Cpu kind;
  return kind;
}

}  // namespace muster
