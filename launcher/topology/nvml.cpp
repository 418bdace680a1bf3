#include "topology/nvml.hpp"

#include "text.hpp"
#include "unique_fd.hpp"

#include <cerrno>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

namespace muster::launcher {
namespace {

constexpr const char* wsl_library = "/usr/lib/wsl/lib/libnvidia-ml.so.1";

/// The part of NVML that is asked, loaded by name. Result 0 is success.
struct Nvml {
  using Handle = void*;
  struct Pci {
    char legacy_id[16];
    unsigned domain, bus, device, device_id, subsystem_id;
    char id[32];
  };
  int (*init)() = nullptr;
  int (*count)(unsigned*) = nullptr;
  int (*device)(unsigned, Handle*) = nullptr;
  int (*uuid)(Handle, char*, unsigned) = nullptr;
  int (*name)(Handle, char*, unsigned) = nullptr;
  int (*pci)(Handle, Pci*) = nullptr;
  int (*instance_count)(Handle, unsigned*) = nullptr;    // Absent in old drivers.
  int (*instance)(Handle, unsigned, Handle*) = nullptr;  // Absent in old drivers.

  bool load() {
    void* library = ::dlopen("libnvidia-ml.so.1", RTLD_NOW);
    if (library == nullptr) library = ::dlopen(wsl_library, RTLD_NOW);
    if (library == nullptr) return false;
    const auto find = [library](auto& function, const char* symbol) {
      void* found = ::dlsym(library, symbol);
      std::memcpy(&function, &found, sizeof found);
    };
    find(init, "nvmlInit_v2");
    find(count, "nvmlDeviceGetCount_v2");
    find(device, "nvmlDeviceGetHandleByIndex_v2");
    find(uuid, "nvmlDeviceGetUUID");
    find(name, "nvmlDeviceGetName");
    find(pci, "nvmlDeviceGetPciInfo_v3");
    find(instance_count, "nvmlDeviceGetMaxMigDeviceCount");
    find(instance, "nvmlDeviceGetMigDeviceHandleByIndex");
    return init != nullptr && count != nullptr && device != nullptr && uuid != nullptr;
  }
};

std::string text_of(int (*get)(Nvml::Handle, char*, unsigned), Nvml::Handle handle) {
  char text[128] = {};
  const bool known = get != nullptr && get(handle, text, sizeof text) == 0;
  // split() drops what is empty, and the fields after it would be taken for others.
  return known && text[0] != 0 ? text : "-";
}

std::string line_of(const Nvml& nvml, Nvml::Handle handle, const std::string& parent) {
  Nvml::Pci pci{};
  const bool has_pci = parent.empty() && nvml.pci != nullptr && nvml.pci(handle, &pci) == 0;
  return "device\t" + text_of(nvml.uuid, handle) + "\t" + (parent.empty() ? "-" : parent) + "\t" +
         (has_pci && pci.id[0] != 0 ? pci.id : "-") + "\t" + text_of(nvml.name, handle) + "\n";
}

/// The child's whole work: a line a device, then "ok", or one line that begins with "fault".
std::string interview() {
  Nvml nvml;
  if (!nvml.load()) return "fault\tNVML (libnvidia-ml.so.1) cannot be loaded\n";
  if (const int error = nvml.init(); error != 0) {
    return "fault\tNVML does not start (error " + std::to_string(error) + ")\n";
  }
  std::string lines;
  unsigned count = 0;
  nvml.count(&count);
  for (unsigned index = 0; index < count; ++index) {
    Nvml::Handle device = nullptr;
    if (nvml.device(index, &device) != 0) continue;
    lines += line_of(nvml, device, "");
    unsigned instances = 0;
    if (nvml.instance_count == nullptr || nvml.instance == nullptr) continue;
    if (nvml.instance_count(device, &instances) != 0) continue;
    for (unsigned at = 0; at < instances; ++at) {
      Nvml::Handle instance = nullptr;
      if (nvml.instance(device, at, &instance) == 0) {
        lines += line_of(nvml, instance, text_of(nvml.uuid, device));
      }
    }
  }
  return lines + "ok\n";
}

/// What the child wrote until it was done, or until the deadline.
std::string read_until(int pipe, std::chrono::steady_clock::time_point deadline) {
  std::string text;
  while (true) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0) return text;
    pollfd ready{pipe, POLLIN, 0};
    const int count = ::poll(&ready, 1, static_cast<int>(left.count()));
    if (count < 0 && errno != EINTR) return text;
    if (count <= 0) continue;
    char part[4096];
    const auto got = ::read(pipe, part, sizeof part);
    if (got <= 0) return text;
    text.append(part, static_cast<std::size_t>(got));
  }
}

NvmlAnswer parse(const std::string& text) {
  NvmlAnswer answer;
  bool whole = false;
  for (const auto line : split(text, '\n')) {
    const auto parts = split(line, '\t');
    if (parts.empty()) continue;
    const auto part = [&](std::size_t at) {
      return parts.size() > at && parts[at] != "-" ? std::string(parts[at]) : std::string();
    };
    if (parts.front() == "device") answer.devices.push_back({part(1), part(2), part(3), part(4)});
    if (parts.front() == "fault") answer.fault = part(1);
    whole = whole || parts.front() == "ok" || parts.front() == "fault";
  }
  if (!whole) answer = {{}, "NVML gave no answer in time"};
  return answer;
}

}  // namespace

NvmlAnswer ask_nvml(std::chrono::milliseconds patience) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return {{}, std::strerror(errno)};
  const UniqueFd reading(ends[0]);
  UniqueFd writing(ends[1]);
  const pid_t child = ::fork();
  if (child < 0) return {{}, std::strerror(errno)};
  if (child == 0) {
    const auto lines = interview();
    const auto written = ::write(writing.get(), lines.data(), lines.size());
    ::_exit(written == static_cast<ssize_t>(lines.size()) ? 0 : 1);
  }
  writing.reset();
  const auto text = read_until(reading.get(), deadline);
  // A child blocked in the driver cannot be waited for: it goes when the driver lets it.
  ::kill(child, SIGKILL);
  for (int tries = 0; tries < 200 && ::waitpid(child, nullptr, WNOHANG) == 0; ++tries) {
    ::usleep(1000);
  }
  return parse(text);
}

}  // namespace muster::launcher
