#include "supervise/core_dump.hpp"

#include "launcher/temporary_folder.hpp"

#include <catch2/catch_test_macros.hpp>

#include <csignal>
#include <unistd.h>

namespace muster::launcher {
namespace {

using muster::test::TemporaryFolder;

CoreDump dump_in(const std::string& folder) {
  return {4711, SIGSEGV, folder, "/opt/train", "node-a"};
}

TEST_CASE("a core dump is the file that the pattern names, if it is there") {
  const TemporaryFolder folder;
  const auto place = [&](const std::string& pattern, bool adds_pid = false) {
    return place_of(dump_in(folder.path()), {pattern, adds_pid});
  };
  folder.write("core", "x");
  CHECK(place("core") == folder.path() + "/core");
  folder.write("core.4711", "x");
  CHECK(place("core", true) == folder.path() + "/core.4711");
  CHECK(place("core.%p", true) == folder.path() + "/core.4711");
  folder.write("cores/train-11-node-a-1700000000%", "x");
  CHECK(place(folder.path() + "/cores/%e-%s-%h-%t%%") ==
        folder.path() + "/cores/train-11-node-a-1700000000%");
  folder.write("!opt!train." + std::to_string(::getuid()), "x");
  CHECK(place("%E.%u") == folder.path() + "/!opt!train." + std::to_string(::getuid()));
  CHECK(place("none.%p") == "written as 'none.%p', seen from the rank's working directory");
}

TEST_CASE("a folder's name is no pattern") {
  const TemporaryFolder folder;
  folder.write("a[b]*/core", "x");
  CHECK(place_of(dump_in(folder.path() + "/a[b]*"), {"core", false}) ==
        folder.path() + "/a[b]*/core");
}

TEST_CASE("a core dump that a program gets") {
  CHECK(place_of(dump_in("/"), {"|/usr/lib/systemd/systemd-coredump %P %u", false}) ==
        "kept by systemd: coredumpctl info 4711, coredumpctl debug 4711");
  CHECK(place_of(dump_in("/"), {"|/usr/share/apport/apport -p%p", false}) ==
        "handed to /usr/share/apport/apport");
}

}  // namespace
}  // namespace muster::launcher
