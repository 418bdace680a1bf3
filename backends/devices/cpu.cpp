#include "devices/cpu/loops.hpp"
#include "devices/kinds.hpp"

#include <ATen/CPUGeneratorImpl.h>

#include <mutex>
#include <sys/sysinfo.h>

namespace muster {
namespace {

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
    static constexpr Kernels table{cpu::sum_into, cpu::square_sum, cpu::scale, cpu::cast};
    return table;
  }
};

}  // namespace

const DeviceKind& cpu_kind() noexcept {
  static const Cpu kind;
  return kind;
}

}  // namespace muster
