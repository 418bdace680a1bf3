#pragma once

#include <muster/control.hpp>

#include <string_view>
#include <utility>

namespace muster {

/// For as long as it lives this rank does something that takes its time, such as an evaluation: the
/// launcher takes no rank for hung, and says what this one does if it is asked. May be nested; any
/// thread. Without a launcher of ours it does nothing.
class [[nodiscard]] Busy {
 public:
  explicit Busy(std::string_view what) : open_(true) { Control::instance().begin_busy(what); }
  Busy(Busy&& other) noexcept : open_(std::exchange(other.open_, false)) {}
  Busy(const Busy&) = delete;
  Busy& operator=(const Busy&) = delete;
  Busy& operator=(Busy&&) = delete;
  ~Busy() {
    if (open_) Control::instance().end_busy();
  }

 private:
  bool open_;
};

}  // namespace muster
