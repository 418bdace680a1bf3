// What stands in for NVIDIA's library: two devices, of which the first has two instances with a gap
// between them. With FAKE_NVML=slow it never answers, with FAKE_NVML=broken it does not start, with
// FAKE_NVML=nameless the second device has no UUID.

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unistd.h>

namespace {

constexpr int not_found = 6;
constexpr int driver_not_loaded = 9;

// A handle points at its number: 1 and 2 are devices, 11 and 13 the instances of the first.
int numbers[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13};
int number(const void* handle) { return *static_cast<const int*>(handle); }
void* handle(unsigned value) { return &numbers[value]; }

struct Pci {
  char legacy_id[16];
  unsigned domain, bus, device, device_id, subsystem_id;
  char id[32];
};

}  // namespace

#define MUSTER_EXPORT extern "C" __attribute__((visibility("default")))

MUSTER_EXPORT int nvmlInit_v2() {  // NOLINT(readability-identifier-naming)
  const char* mode = std::getenv("FAKE_NVML");
  if (mode != nullptr && std::strcmp(mode, "broken") == 0) return driver_not_loaded;
  while (mode != nullptr && std::strcmp(mode, "slow") == 0) ::pause();
  return 0;
}
MUSTER_EXPORT int nvmlDeviceGetCount_v2(unsigned* count) {  // NOLINT(readability-identifier-naming)
  *count = 2;
  return 0;
}
MUSTER_EXPORT int nvmlDeviceGetHandleByIndex_v2(  // NOLINT(readability-identifier-naming)
    unsigned index, void** device) {
  *device = handle(index + 1);
  return 0;
}
MUSTER_EXPORT int nvmlDeviceGetUUID(  // NOLINT(readability-identifier-naming)
    void* device, char* text, unsigned size) {
  const char* mode = std::getenv("FAKE_NVML");
  const bool nameless = mode != nullptr && std::strcmp(mode, "nameless") == 0;
  if (nameless && number(device) == 2) {
    text[0] = 0;
    return 0;
  }
  std::snprintf(text, size, number(device) > 10 ? "MIG-%d" : "GPU-%d", number(device));
  return 0;
}
MUSTER_EXPORT int nvmlDeviceGetName(  // NOLINT(readability-identifier-naming)
    void* device, char* text, unsigned size) {
  std::snprintf(text, size, number(device) > 10 ? "NVIDIA H200 MIG 3g.71gb" : "NVIDIA H200");
  return 0;
}
MUSTER_EXPORT int nvmlDeviceGetPciInfo_v3(  // NOLINT(readability-identifier-naming)
    void* device, Pci* pci) {
  std::snprintf(pci->id, sizeof pci->id, "00000000:0%d:00.0", number(device));
  return 0;
}
MUSTER_EXPORT int nvmlDeviceGetMaxMigDeviceCount(  // NOLINT(readability-identifier-naming)
    void*, unsigned* count) {
  *count = 7;
  return 0;
}
MUSTER_EXPORT int nvmlDeviceGetMigDeviceHandleByIndex(  // NOLINT(readability-identifier-naming)
    void* device, unsigned index, void** instance) {
  if (number(device) != 1 || (index != 0 && index != 2)) return not_found;
  *instance = handle(11 + index);
  return 0;
}
