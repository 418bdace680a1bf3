#include "made_files.hpp"

#include "runtime/command.hpp"

#include <support/paths.hpp>

#include <stdexcept>

namespace muster::test {

const std::filesystem::path& made_files() {
  static const TemporaryFolder folder;
  static const bool made = [] {
    const std::string packages =
        python_package("numpy 2.2.6") + ":" + python_package("pillow 11.3.0");
    const auto done = run_command(
        "PYTHONPATH='" + packages + "' python3 '" + std::string(source_dir) +
        "/tests/runtime/data/disk/make_files.py' '" + folder.path().string() + "' 2>&1");
    if (done.status != 0) throw std::runtime_error(done.text);
    return true;
  }();
  (void)made;
  return folder.path();
}

}  // namespace muster::test
