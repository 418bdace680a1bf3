#include "planning/run_directory.hpp"

#include <muster/error.hpp>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <stdlib.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace muster::launcher {

namespace {

/// The value of a variable that is set and not empty.
const std::string* chosen(const Environment& environment, const char* name) {
  const auto found = environment.find(name);
  return found == environment.end() || found->second.empty() ? nullptr : &found->second;
}

/// Memory that the session owns: quicker than a disk. After `sudo` it may be another user's.
bool is_usable(const std::string& folder) {
  struct stat facts {};
  return folder.starts_with('/') && ::stat(folder.c_str(), &facts) == 0 && S_ISDIR(facts.st_mode) &&
         facts.st_uid == ::geteuid();
}

}  // namespace

RunDirectory::RunDirectory(const Environment& environment) {
  const auto* session = chosen(environment, "XDG_RUNTIME_DIR");
  if (session != nullptr && is_usable(*session)) {
    path_ = *session + "/muster-XXXXXX";
    if (::mkdtemp(path_.data()) != nullptr) return;
  }
  const auto* folder = chosen(environment, "TMPDIR");
  std::error_code ignored;
  // Ranks may work elsewhere.
  const auto above = std::filesystem::absolute(folder != nullptr ? *folder : "/tmp", ignored);
  path_ = (above / "muster-XXXXXX").string();
  if (::mkdtemp(path_.data()) == nullptr) {
    throw Error("cannot make a folder for the job below " + above.string() + ": " +
                std::strerror(errno) + "; TMPDIR names another place");
  }
}

RunDirectory::~RunDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace muster::launcher
