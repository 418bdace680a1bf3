#pragma once

#include <muster/tracked_value.hpp>

#include <ATen/core/Tensor.h>

#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace muster {

/// What Accelerator::log takes under one name: a value, or a tensor of one number, of which the
/// present content counts. One on an accelerator is copied in its stream and read when the copy is
/// there, so that log() does not wait for the device.
class LoggedValue {
 public:
  // NOLINTBEGIN(google-explicit-constructor): lists of names and values read as such.
  LoggedValue(at::Tensor tensor) : value_(std::move(tensor)) {}
  template <class T>
    requires std::is_constructible_v<TrackedValue, T> && (!std::is_same_v<T, at::Tensor>)
  LoggedValue(T value) : value_(TrackedValue(std::move(value))) {}
  // NOLINTEND(google-explicit-constructor)

  const std::variant<TrackedValue, at::Tensor>& get() const noexcept { return value_; }

 private:
  std::variant<TrackedValue, at::Tensor> value_;
};

struct LoggedItem {
  std::string name;
  LoggedValue value;
};

}  // namespace muster
