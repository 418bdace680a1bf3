#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <new>

namespace muster::gloo {

/// Zeroed bytes that begin on a cache line.
class Memory {
 public:
  Memory() = default;
  explicit Memory(std::size_t bytes) { grow(bytes); }

  char* data() const noexcept { return data_.get(); }

  /// At least `bytes`; what was there is lost if it grows.
  void grow(std::size_t bytes) {
    if (bytes > size_) {
      data_.reset(static_cast<char*>(::operator new(bytes, line)));
      std::fill_n(data_.get(), bytes, char{0});
      size_ = bytes;
    }
  }

 private:
  static constexpr std::align_val_t line{64};
  struct Free {
    void operator()(char* data) const noexcept { ::operator delete(data, line); }
  };
  std::unique_ptr<char, Free> data_;
  std::size_t size_ = 0;
};

}  // namespace muster::gloo
