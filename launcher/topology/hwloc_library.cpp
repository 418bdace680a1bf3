#include "topology/hwloc_library.hpp"

#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <optional>

namespace muster::launcher {
namespace {

/// A variable of this process that is another one for a while. The process has one thread.
class LentVariable {
 public:
  LentVariable(const char* name, const char* value) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = before;
    ::setenv(name, value, 1);
  }
  LentVariable(const LentVariable&) = delete;
  LentVariable& operator=(const LentVariable&) = delete;
  ~LentVariable() {
    if (before_) {
      ::setenv(name_, before_->c_str(), 1);
    } else {
      ::unsetenv(name_);
    }
  }

 private:
  const char* name_;
  std::optional<std::string> before_;
};

}  // namespace

HwlocLibrary::HwlocLibrary() {
  for (const auto* name : {"libhwloc.so.15", "$ORIGIN/../lib/libhwloc.so.15"}) {
    if (library_ == nullptr) library_ = ::dlopen(name, RTLD_NOW | RTLD_LOCAL);
  }
  whole_ = library_ != nullptr;
  const auto find = [this](auto& function, const char* symbol) {
    void* found = library_ == nullptr ? nullptr : ::dlsym(library_, symbol);
    std::memcpy(&function, &found, sizeof found);
    whole_ = whole_ && found != nullptr;
  };
  find(get_api_version, "hwloc_get_api_version");
  find(init, "hwloc_topology_init");
  find(destroy, "hwloc_topology_destroy");
  find(set_flags, "hwloc_topology_set_flags");
  find(set_io_types_filter, "hwloc_topology_set_io_types_filter");
  find(set_xmlbuffer, "hwloc_topology_set_xmlbuffer");
  find(load, "hwloc_topology_load");
  find(export_xmlbuffer, "hwloc_topology_export_xmlbuffer");
  find(free_xmlbuffer, "hwloc_free_xmlbuffer");
  find(get_type_depth, "hwloc_get_type_depth");
  find(get_nbobjs_by_depth, "hwloc_get_nbobjs_by_depth");
  find(get_obj_by_depth, "hwloc_get_obj_by_depth");
  find(bitmap_next, "hwloc_bitmap_next");
}

HwlocLibrary::~HwlocLibrary() {
  if (library_ != nullptr) ::dlclose(library_);
}

std::string HwlocLibrary::version() const {
  const unsigned number = get_api_version();
  return "hwloc " + std::to_string(number >> 16) + "." + std::to_string((number >> 8) & 0xFF);
}

HwlocTopology::HwlocTopology(const HwlocLibrary& hwloc, const std::string* xml) : hwloc_(hwloc) {
  // Plugins would ask CUDA, NVML and the like, which wakes every device.
  const LentVariable no_plugins("HWLOC_PLUGINS_PATH", "/dev/null");
  const LentVariable no_words("HWLOC_HIDE_ERRORS", "2");
  if (hwloc.init(&topology_) != 0) return;
  hwloc.set_flags(topology_, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED);
  hwloc.set_io_types_filter(topology_, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
  if (xml != nullptr &&
      hwloc.set_xmlbuffer(topology_, xml->c_str(), static_cast<int>(xml->size() + 1)) != 0) {
    return;
  }
  loaded_ = hwloc.load(topology_) == 0;
}

HwlocTopology::~HwlocTopology() {
  if (topology_ != nullptr) hwloc_.destroy(topology_);
}

}  // namespace muster::launcher
