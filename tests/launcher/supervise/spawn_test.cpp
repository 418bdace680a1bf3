#include "supervise/spawn.hpp"

#include "launcher/temporary_folder.hpp"
#include "supervise/protocol.hpp"
#include "supervise/start_stacks.hpp"
#include "topology/cpu_list.hpp"
#include "topology/cpus.hpp"
#include "unique_fd.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <cerrno>
#include <fcntl.h>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace muster::launcher {
namespace {

const Inherited inherited;

/// What a program that was started for `spec` printed, in our memory where that can be, and as a
/// copy of us; `refused` is what it was denied.
std::string output_of(const ProcessSpec& spec, std::optional<StartRecord>& refused) {
  const test::TemporaryFolder folder;
  const auto path = folder.path() + "/out";
  int records[2];
  REQUIRE(::pipe2(records, O_CLOEXEC) == 0);
  const UniqueFd reading(records[0]);
  UniqueFd writing(records[1]);
  const UniqueFd out(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  const RankImage image(spec, "/bin/cat", {.standard = {-1, out.get(), -1}});
  const StartStacks stacks = GENERATE(true, false) ? StartStacks(1) : StartStacks();
  const pid_t pid = fork_rank(image, inherited, writing.get(), stacks.of(0));
  writing.reset();
  REQUIRE(pid > 0);
  StartRecord record;
  if (::read(reading.get(), &record, sizeof record) == sizeof record) refused = record;
  int status = 0;
  REQUIRE(::waitpid(pid, &status, 0) == pid);
  CHECK(status == 0);
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

TEST_CASE("A rank starts on its CPUs") {
  const Sysroot root;
  const int last = discover_cpus(root, Cgroups(root)).allowed.back();
  ProcessSpec spec;
  spec.argv = {"cat", "/proc/self/status"};
  spec.cpus = {last};
  std::optional<StartRecord> refused;
  const auto status = output_of(spec, refused);
  CHECK_FALSE(refused);
  CHECK(status.find("Cpus_allowed_list:\t" + std::to_string(last) + "\n") != status.npos);
}

TEST_CASE("A rank starts with its NUMA node's memory first") {
  ProcessSpec spec;
  spec.argv = {"cat", "/proc/self/numa_maps"};
  spec.memory_node = 0;
  spec.bind_asked = true;
  std::optional<StartRecord> refused;
  const auto maps = output_of(spec, refused);
  if (refused) SKIP("the kernel or a sandbox denies set_mempolicy");
  CHECK(maps.find(" prefer:0 ") != maps.npos);
}

TEST_CASE("A rank that fails in our memory leaves our errno alone") {
  ProcessSpec spec;
  spec.argv = {"none"};
  spec.cpus = {100000};
  int records[2];
  REQUIRE(::pipe2(records, O_CLOEXEC) == 0);
  const UniqueFd reading(records[0]);
  UniqueFd writing(records[1]);
  const RankImage image(spec, "/none", {});
  const StartStacks stacks(1);
  errno = 0;
  const pid_t pid = fork_rank(image, inherited, writing.get(), stacks.of(0));
  writing.reset();
  std::vector<StartRecord> told;
  StartRecord record;
  while (::read(reading.get(), &record, sizeof record) == sizeof record) told.push_back(record);
  CHECK(errno == 0);
  int status = 0;
  REQUIRE(::waitpid(pid, &status, 0) == pid);
  CHECK(WEXITSTATUS(status) == 127);
  REQUIRE(told.size() == 2);
  CHECK(told[0].error == EINVAL);
  CHECK(told[1].stage == StartStage::exec);
  CHECK(told[1].error == ENOENT);
}

TEST_CASE("CPUs that do not exist are told, and the program runs") {
  ProcessSpec spec;
  spec.argv = {"cat", "/dev/null"};
  spec.cpus = {100000};
  std::optional<StartRecord> refused;
  CHECK(output_of(spec, refused).empty());
  REQUIRE(refused);
  CHECK(refused->stage == StartStage::affinity);
  CHECK(refused->fatal == 0);
}

}  // namespace muster::launcher
