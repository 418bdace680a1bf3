#include "tracking/meter.hpp"

#include <array>
#include <cstdlib>
#include <fcntl.h>
#include <unistd.h>

namespace muster::tracking {

TrackedItems Meter::measure(std::int64_t step, double seconds) {
  TrackedItems items;
  if (begun_ && seconds > seconds_) {
    items.push_back(
        {"system/steps_per_second", static_cast<double>(step - step_) / (seconds - seconds_)});
  }
  if (const auto bytes = resident_bytes(); bytes >= 0) {
    items.push_back({"system/memory_mib", static_cast<double>(bytes) / (1024.0 * 1024.0)});
  }
  begun_ = true;
  step_ = step;
  seconds_ = seconds;
  return items;
}

std::int64_t resident_bytes() noexcept {
  const int descriptor = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return -1;
  std::array<char, 128> text{};
  const auto count = read(descriptor, text.data(), text.size() - 1);
  close(descriptor);
  if (count <= 0) return -1;
  // The second number: pages in memory.
  char* rest = nullptr;
  std::strtoll(text.data(), &rest, 10);
  return std::strtoll(rest, nullptr, 10) * sysconf(_SC_PAGESIZE);
}

}  // namespace muster::tracking
