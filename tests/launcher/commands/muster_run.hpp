#pragma once

#include "launcher/temporary_folder.hpp"

#include <map>
#include <string>
#include <vector>

namespace muster::test {

/// How a run of the program `muster` ended.
struct MusterEnd {
  int code = -1;  ///< Its exit code, or 128 + the signal it died of.
  std::string out;
  std::string err;
};

/// Runs the program of the tree that is tested, with `words` as its arguments, to its end.
/// Nothing but `environment`, PATH and an empty XDG_CONFIG_HOME is set, and it runs in `folder`;
/// `input` is what it reads.
MusterEnd run_muster(const std::vector<std::string>& words, const TemporaryFolder& folder,
                     std::map<std::string, std::string> environment = {},
                     const std::string& input = "");
MusterEnd run_muster(const std::vector<std::string>& words,
                     std::map<std::string, std::string> environment = {});

}  // namespace muster::test
