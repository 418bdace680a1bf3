#pragma once

#include <cstddef>
#include <string>
#include <sys/types.h>

namespace muster::shm {

/// Memory that processes of one host share. It has no name, so nothing is left of it when the last
/// of them has gone, however that happens.
class Segment {
 public:
  /// A new one, all zero; the first `reserved` bytes are there for sure, the others when they are
  /// used. Throws std::system_error.
  static Segment create(std::size_t bytes, std::size_t reserved);
  /// That of process `owner`, which has it open as `descriptor`. Throws std::system_error.
  static Segment open(pid_t owner, int descriptor, std::size_t bytes);
  ~Segment();
  Segment(const Segment&) = delete;
  Segment& operator=(const Segment&) = delete;
  Segment(Segment&& other) noexcept;
  Segment& operator=(Segment&& other) noexcept;

  std::byte* data() const noexcept { return data_; }
  std::size_t bytes() const noexcept { return bytes_; }
  int descriptor() const noexcept { return descriptor_; }
  /// From here on nobody can open it.
  void close_descriptor() noexcept;

 private:
  Segment(int descriptor, std::size_t bytes);

  int descriptor_;
  std::size_t bytes_;
  std::byte* data_ = nullptr;
};

}  // namespace muster::shm
