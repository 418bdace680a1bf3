#pragma once

#include "import/carrier.hpp"
#include "import/document.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace muster::launcher {

/// A line of a hostfile: a host and how many ranks it takes.
struct HostLine {
  std::string name;
  int slots = 1;
  int line = 0;
  bool operator==(const HostLine&) const = default;
};

/// "host slots=4" as DeepSpeed and Open MPI write it, "host:4" as MPICH does, or a host alone,
/// which takes one; an address of IPv6 in brackets if slots follow it. Throws ConfigError with all
/// faults
/// ("hosts:3: ..."), and for no host at all.
std::vector<HostLine> parse_hostfile(std::string_view text, const std::string& file);

/// MLX's, in JSON: a list of objects with "ssh", or an object with such a list as "hosts".
bool is_mlx_hosts(const DocumentNode& root);
std::vector<HostLine> mlx_hosts(const DocumentNode& root, const std::string& file);

/// `here` is this host's name. What it takes becomes the number of ranks; other hosts are refused.
Import import_hosts(const std::vector<HostLine>& hosts, const std::string& file,
                    std::string_view here);

}  // namespace muster::launcher
