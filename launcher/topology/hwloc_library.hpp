#pragma once

#include <hwloc.h>

#include <string>

namespace muster::launcher {

/// The functions of hwloc that are used, loaded by name: the launcher starts without the library.
class HwlocLibrary {
 public:
  HwlocLibrary();
  HwlocLibrary(const HwlocLibrary&) = delete;
  HwlocLibrary& operator=(const HwlocLibrary&) = delete;
  ~HwlocLibrary();

  /// Whether the library and all of its functions were found.
  explicit operator bool() const noexcept { return whole_; }
  /// "hwloc 2.9"
  std::string version() const;

  decltype(&hwloc_get_api_version) get_api_version = nullptr;
  decltype(&hwloc_topology_init) init = nullptr;
  decltype(&hwloc_topology_destroy) destroy = nullptr;
  decltype(&hwloc_topology_set_flags) set_flags = nullptr;
  decltype(&hwloc_topology_set_io_types_filter) set_io_types_filter = nullptr;
  decltype(&hwloc_topology_set_xmlbuffer) set_xmlbuffer = nullptr;
  decltype(&hwloc_topology_load) load = nullptr;
  decltype(&hwloc_topology_export_xmlbuffer) export_xmlbuffer = nullptr;
  decltype(&hwloc_free_xmlbuffer) free_xmlbuffer = nullptr;
  decltype(&hwloc_get_type_depth) get_type_depth = nullptr;
  decltype(&hwloc_get_nbobjs_by_depth) get_nbobjs_by_depth = nullptr;
  decltype(&hwloc_get_obj_by_depth) get_obj_by_depth = nullptr;
  decltype(&hwloc_bitmap_next) bitmap_next = nullptr;

 private:
  void* library_ = nullptr;
  bool whole_ = false;
};

/// A topology that is loaded whole: this host's, or what an XML text says.
class HwlocTopology {
 public:
  /// `xml` null: this host. The library must be there and outlive this.
  HwlocTopology(const HwlocLibrary& hwloc, const std::string* xml);
  HwlocTopology(const HwlocTopology&) = delete;
  HwlocTopology& operator=(const HwlocTopology&) = delete;
  ~HwlocTopology();

  explicit operator bool() const noexcept { return loaded_; }
  hwloc_topology_t get() const noexcept { return topology_; }

 private:
  const HwlocLibrary& hwloc_;
  hwloc_topology_t topology_ = nullptr;
  bool loaded_ = false;
};

}  // namespace muster::launcher
