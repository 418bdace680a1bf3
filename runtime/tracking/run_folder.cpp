#include "tracking/run_folder.hpp"

#include <muster/tracker.hpp>

#include "tracking/line_file.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

namespace muster::tracking {

void check_project(const std::string& project) {
  const std::filesystem::path path(project);
  const bool leads_out = path.is_absolute() || std::ranges::any_of(path, [](const auto& part) {
                           return part == ".." || part == ".";
                         });
  if (project.empty() || leads_out || project.find('\0') != std::string::npos) {
    throw ConfigError("init_trackers: the project '" + project +
                      "' is no name of a folder, such as digits or digits/first");
  }
}

RunFolder::RunFolder(const std::filesystem::path& parent, const std::string& project) {
  check_project(project);
  path_ = parent / project;
  std::error_code error;
  std::filesystem::create_directories(path_, error);
  if (error) throw_file_trouble("make the folder", path_, error.value());
  held_ = open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (held_ < 0) throw_file_trouble("open the folder", path_, errno);
  // A file system without locks has nothing to say.
  if (flock(held_, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return;
  close(held_);
  throw TrackerError("'" + path_.string() +
                     "' is in use: another program tracks the same project; give this one another "
                     "project or project_dir");
}

RunFolder::~RunFolder() {
  if (held_ >= 0) close(held_);
}

}  // namespace muster::tracking
