#include "topology/layout.hpp"

#include "text.hpp"
#include "topology/cpu_list.hpp"

#include <hwloc.h>

#include <algorithm>
#include <dlfcn.h>
#include <optional>
#include <set>
#include <utility>

namespace muster::launcher {
namespace {

/// The functions of hwloc that are used, loaded by name.
class Hwloc {
 public:
  Hwloc() {
    for (const auto* name : {"libhwloc.so.15", "$ORIGIN/../lib/libhwloc.so.15"}) {
      if (library_ == nullptr) library_ = ::dlopen(name, RTLD_NOW | RTLD_LOCAL);
    }
  }
  Hwloc(const Hwloc&) = delete;
  Hwloc& operator=(const Hwloc&) = delete;
  ~Hwloc() {
    if (library_ != nullptr) ::dlclose(library_);
  }
  explicit operator bool() const { return library_ != nullptr; }

  template <class Function>
  Function* find(const char* name) const {
    return reinterpret_cast<Function*>(::dlsym(library_, name));
  }

 private:
  void* library_ = nullptr;
};

std::string version_text(unsigned version) {
  return "hwloc " + std::to_string(version >> 16) + "." + std::to_string((version >> 8) & 0xFF);
}

std::optional<Layout> from_hwloc() {
  const Hwloc hwloc;
  if (!hwloc) return std::nullopt;
  const auto init = hwloc.find<decltype(hwloc_topology_init)>("hwloc_topology_init");
  const auto load = hwloc.find<decltype(hwloc_topology_load)>("hwloc_topology_load");
  const auto flags = hwloc.find<decltype(hwloc_topology_set_flags)>("hwloc_topology_set_flags");
  const auto depth = hwloc.find<decltype(hwloc_get_type_depth)>("hwloc_get_type_depth");
  const auto count = hwloc.find<decltype(hwloc_get_nbobjs_by_depth)>("hwloc_get_nbobjs_by_depth");
  const auto object = hwloc.find<decltype(hwloc_get_obj_by_depth)>("hwloc_get_obj_by_depth");
  const auto destroy = hwloc.find<decltype(hwloc_topology_destroy)>("hwloc_topology_destroy");
  const auto version = hwloc.find<decltype(hwloc_get_api_version)>("hwloc_get_api_version");
  hwloc_topology_t topology = nullptr;
  if (!init || !load || !flags || !depth || !count || !object || !destroy || !version ||
      init(&topology) != 0) {
    return std::nullopt;
  }
  flags(topology, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED);
  std::optional<Layout> layout;
  if (load(topology) == 0) {
    const auto number_of = [&](hwloc_obj_type_t type) {
      return std::max(1, static_cast<int>(count(topology, depth(topology, type))));
    };
    layout = Layout{number_of(HWLOC_OBJ_PACKAGE),
                    number_of(HWLOC_OBJ_NUMANODE),
                    number_of(HWLOC_OBJ_CORE),
                    number_of(HWLOC_OBJ_PU),
                    0,
                    version_text(version())};
    const int level = depth(topology, HWLOC_OBJ_L3CACHE);
    for (unsigned at = 0; level >= 0 && at < count(topology, level); ++at) {
      layout->cache_bytes += object(topology, level, at)->attr->cache.size;
    }
  }
  destroy(topology);
  return layout;
}

/// "32768K" of sysfs.
std::uint64_t cache_size(std::string_view text) {
  if (!text.ends_with('K')) return 0;
  text.remove_suffix(1);
  return to_number<std::uint64_t>(text).value_or(0) * 1024;
}

Layout from_sysfs(const Sysroot& root) {
  constexpr std::string_view cpus = "/sys/devices/system/cpu/";
  Layout layout;
  const auto online = parse_cpu_list(root.read(std::string(cpus) + "online").value_or("0"));
  std::set<std::string> packages, cores, caches;
  for (const int cpu : online.value_or(std::vector<int>{0})) {
    const auto folder = std::string(cpus) + "cpu" + std::to_string(cpu);
    packages.insert(root.read(folder + "/topology/physical_package_id").value_or("0"));
    const auto siblings = root.read(folder + "/topology/thread_siblings_list");
    cores.insert(siblings.value_or(std::to_string(cpu)));
    const auto sharers = root.read(folder + "/cache/index3/shared_cpu_list");
    if (sharers && caches.insert(*sharers).second) {
      layout.cache_bytes += cache_size(root.read(folder + "/cache/index3/size").value_or(""));
    }
  }
  const auto nodes = parse_cpu_list(root.read("/sys/devices/system/node/online").value_or("0"));
  layout.packages = static_cast<int>(packages.size());
  layout.cores = static_cast<int>(cores.size());
  layout.threads = static_cast<int>(online.value_or(std::vector<int>{0}).size());
  layout.numa_nodes = std::max(1, static_cast<int>(nodes.value_or(std::vector<int>{0}).size()));
  layout.source = "sysfs";
  return layout;
}

}  // namespace

Layout discover_layout(const Sysroot& root) {
  if (!root.is_live()) return from_sysfs(root);
  if (auto layout = from_hwloc()) return *layout;
  auto layout = from_sysfs(root);
  layout.source = "sysfs (libhwloc.so.15 is not installed)";
  return layout;
}

}  // namespace muster::launcher
