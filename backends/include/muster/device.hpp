#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace muster {

/// The loops of the engine, for one kind of device. Tensors are contiguous and equal in numel.
struct Kernels {
  /// destination += source, element by element; source may be of a narrower floating dtype.
  void (*sum_into)(const at::Tensor& destination, const at::Tensor& source);
  /// Sum of squares in compensated fp64 [no elements: 0].
  double (*square_sum)(const at::Tensor& values);
  /// destination *= factor.
  void (*scale)(const at::Tensor& destination, double factor);
  /// destination = source in destination's dtype.
  void (*cast)(const at::Tensor& destination, const at::Tensor& source);
  /// values *= factor, of fp32 or fp64; true if all are finite then. One pass.
  bool (*unscale)(const at::Tensor& values, double factor);
};

/// How a device trains under autocast to a narrow dtype.
enum class Autocasting {
  none,  ///< Not at all.
  slow,  ///< It has no instructions for the dtype.
  fast,
};

/// A kind of device. Stateless; one object a kind and process.
class DeviceKind {
 public:
  virtual ~DeviceKind() = default;
  virtual std::string_view name() const noexcept = 0;  ///< "cpu", "cuda".
  virtual int count() const = 0;                       ///< Devices that this process may use.
  virtual std::string description(int index) const = 0;
  virtual std::uint64_t memory_bytes(int index) const = 0;
  virtual bool supports(at::ScalarType dtype) const = 0;
  virtual Autocasting autocasting(at::ScalarType dtype) const = 0;
  virtual at::Tensor pinned(
      at::Tensor tensor) const = 0;  ///< A copy in page-locked memory; CPU: itself.
  virtual at::Tensor rng_state(int index) const = 0;  ///< [bytes] uint8.
  virtual void set_rng_state(int index, const at::Tensor& state) const = 0;
  virtual void synchronise(
      int index) const = 0;  ///< Until all work given to it is done. CPU: nothing.
  virtual const Kernels& kernels() const noexcept = 0;
};

/// Throws UnsupportedError, naming the kinds of this build, if there is none for `device`.
const DeviceKind& device_kind(at::Device device);

/// All kinds of this build.
std::span<const DeviceKind* const> device_kinds() noexcept;

}  // namespace muster
