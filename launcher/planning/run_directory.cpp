#include "planning/run_directory.hpp"

#include <muster/error.hpp>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <stdlib.h>
#include <system_error>

namespace muster::launcher {

RunDirectory::RunDirectory(const Environment& environment) {
  const auto chosen = environment.find("TMPDIR");
  const bool has_choice = chosen != environment.end() && !chosen->second.empty();
  path_ = (has_choice ? chosen->second : "/tmp") + "/muster-XXXXXX";
  if (::mkdtemp(path_.data()) == nullptr) {
    throw Error("cannot make a folder for the job below " + path_.substr(0, path_.rfind('/')) +
                ": " + std::strerror(errno) + "; TMPDIR names another place");
  }
}

RunDirectory::~RunDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace muster::launcher
