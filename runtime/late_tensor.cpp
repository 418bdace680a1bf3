#include "late_tensor.hpp"

#include <muster/error.hpp>
#include <muster/tensor_text.hpp>

#include <c10/core/Event.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <string>

namespace muster {
namespace {

TrackedValue value_of(const at::Tensor& tensor) {
  if (tensor.scalar_type() == at::kBool) return tensor.item<bool>();
  if (at::isIntegralType(tensor.scalar_type(), false)) return tensor.item<std::int64_t>();
  return tensor.item<double>();
}

class LateTensor : public tracking::LateNumber {
 public:
  explicit LateTensor(const at::Tensor& tensor)
      : copy_(tensor.to(at::kCPU, /*non_blocking=*/true)), copied_(tensor.device().type()) {
    const c10::impl::VirtualGuardImpl device(tensor.device().type());
    copied_.record(device.getStream(tensor.device()));
  }
  bool ready() override { return copied_.query(); }
  TrackedValue value() override {
    copied_.synchronize();
    return value_of(copy_);
  }

 private:
  at::Tensor copy_;  ///< In pinned memory, filled once the event came.
  c10::Event copied_;
};

}  // namespace

void check_number(const at::Tensor& tensor, std::string_view name) {
  const bool one = tensor.defined() && tensor.numel() == 1;
  if (one && !tensor.is_complex()) return;
  throw ConfigError("log: '" + std::string(name) + "' is " +
                    (tensor.defined() ? describe_tensor(tensor) : "an undefined tensor") +
                    "; trackers take one real number, such as a mean()");
}

std::variant<TrackedValue, std::shared_ptr<tracking::LateNumber>> number_in(
    const at::Tensor& tensor, std::string_view name) {
  check_number(tensor, name);
  const auto bare = tensor.detach();
  if (bare.is_cpu()) return value_of(bare);
  return std::make_shared<LateTensor>(bare);
}

}  // namespace muster
