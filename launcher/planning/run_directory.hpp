#pragma once

#include <muster/world.hpp>

#include <string>

namespace muster::launcher {

/// A folder of our own that lives as long as the job: ranks leave their error files in it. If this
/// process is killed, the guardian removes it.
class RunDirectory {
 public:
  /// Below $XDG_RUNTIME_DIR, if that is ours, else $TMPDIR, else /tmp; nobody else may enter it.
  /// Throws Error (internal) if it cannot be made.
  explicit RunDirectory(const Environment& environment);
  RunDirectory(const RunDirectory&) = delete;
  RunDirectory& operator=(const RunDirectory&) = delete;
  /// Removes it with all that is in it.
  ~RunDirectory();

  const std::string& path() const noexcept { return path_; }

 private:
  std::string path_;
};

}  // namespace muster::launcher
