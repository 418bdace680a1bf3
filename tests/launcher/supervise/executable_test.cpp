#include "supervise/executable.hpp"

#include "launcher/temporary_folder.hpp"
#include "supervise/start_fault.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <cerrno>
#include <filesystem>
#include <sys/stat.h>

namespace muster::launcher {
namespace {

using Catch::Matchers::ContainsSubstring;

class Folders {
 public:
  Folders() {
    folder_.write("a/tool", "#!/no/such/interpreter -x\n");
    folder_.write("b/tool", "#!/bin/sh\n");
    folder_.write("b/script", "#!/no/such/interpreter -x\n");
    ::chmod(path("b/tool").c_str(), 0755);
    ::chmod(path("b/script").c_str(), 0755);
    std::filesystem::create_directory(path("a/sub"));
  }
  std::string path(const std::string& name) const { return folder_.path() + "/" + name; }
  std::string search() const { return path("none") + ":" + path("a") + ":" + path("b"); }

 private:
  test::TemporaryFolder folder_;
};

TEST_CASE("programs are found as a shell finds them") {
  const Folders folders;
  const auto found = find_executable("tool", folders.search());
  CHECK(found.error == 0);
  CHECK(found.path == folders.path("b/tool"));  // a/tool cannot be executed.
  CHECK(find_executable("tool", folders.path("a")).error == EACCES);
  CHECK(find_executable("nothing", folders.search()).error == ENOENT);
  CHECK(find_executable("sub", folders.path("a")).error == ENOENT);
  CHECK(find_executable("", folders.search()).error == ENOENT);
  CHECK(find_executable(folders.path("a"), "").error == EISDIR);
  CHECK(find_executable(folders.path("b/none"), folders.search()).error == ENOENT);
  CHECK(find_executable(folders.path("b/tool"), "").error == 0);
}

TEST_CASE("why a program did not start") {
  const Folders folders;
  const auto describe = [](const std::string& name, int error) {
    return describe_start_fault(name, name, StartStage::exec, error);
  };
  CHECK(describe("nosuch", ENOENT).exit_code == 127);
  CHECK(describe(folders.path("nosuch"), ENOENT).exit_code == 127);
  const auto script = describe(folders.path("b/script"), ENOENT);
  CHECK(script.exit_code == 126);
  CHECK_THAT(script.message, ContainsSubstring("/no/such/interpreter"));
  CHECK_THAT(script.message, !ContainsSubstring(" -x"));
  CHECK(describe("x", EISDIR).exit_code == 126);
  CHECK(describe("x", EACCES).exit_code == 126);
  CHECK(describe("x", ENOEXEC).exit_code == 126);
  CHECK(describe_start_fault("x", "x", StartStage::fork, EAGAIN).exit_code == 125);
}

}  // namespace
}  // namespace muster::launcher
