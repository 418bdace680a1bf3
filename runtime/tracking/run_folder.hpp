#pragma once

#include <filesystem>
#include <string>

namespace muster::tracking {

/// The folder of a run, made where it is missing and held for this program alone: two that write
/// the same files would spoil them. Throws TrackerError.
class RunFolder {
 public:
  /// The folder `project` in `parent`. Throws ConfigError for a name that leads out of it.
  RunFolder(const std::filesystem::path& parent, const std::string& project);
  ~RunFolder();
  RunFolder(const RunFolder&) = delete;
  RunFolder& operator=(const RunFolder&) = delete;

  const std::filesystem::path& path() const noexcept { return path_; }

 private:
  std::filesystem::path path_;
  int held_ = -1;
};

/// Throws ConfigError for a project that is no path inside a folder.
void check_project(const std::string& project);

}  // namespace muster::tracking
