#include "check/check_program.hpp"

#include <muster/error.hpp>

#include <filesystem>
#include <system_error>
#include <unistd.h>

namespace muster::launcher {

std::string check_program() {
  std::error_code failed;
  const auto own = std::filesystem::read_symlink("/proc/self/exe", failed);
  const auto path = own.parent_path().parent_path() / "libexec" / "muster" / "muster-check";
  if (!failed && ::access(path.c_str(), X_OK) == 0) return path.string();
  throw Error("no check program is installed: " + path.string() +
                  " is not there; a build with LibTorch, without -DMUSTER_LAUNCHER_ONLY=ON, "
                  "installs it",
              ExitCode::not_found);
}

void add_libtorch(Environment& environment) {
  const auto chosen = environment.find("MUSTER_LIBTORCH");
  if (chosen == environment.end() || chosen->second.empty()) return;
  auto& path = environment["LD_LIBRARY_PATH"];
  path = chosen->second + "/lib" + (path.empty() ? "" : ":" + path);
}

}  // namespace muster::launcher
