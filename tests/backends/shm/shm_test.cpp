#include <muster/communicators.hpp>

#include "backends/catch.hpp"
#include "backends/ranks.hpp"
#include "backends/values.hpp"

#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <set>
#include <sys/resource.h>

namespace muster::test {
namespace {

using namespace std::chrono_literals;

/// Open descriptors of shared memory, and parts of it that are mapped.
int shared_descriptors() {
  int found = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    const auto target = std::filesystem::read_symlink(entry.path(), gone);
    if (target.native().find("memfd:muster") != std::string::npos) ++found;
  }
  return found;
}
int shared_mappings() {
  std::ifstream maps("/proc/self/maps");
  int found = 0;
  for (std::string line; std::getline(maps, line);) {
    if (line.find("memfd:muster") != std::string::npos) ++found;
  }
  return found;
}
std::set<std::string> named_shared_memory() {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator("/dev/shm")) {
    names.insert(entry.path().filename());
  }
  return names;
}

/// While it lives no file may be made longer than that.
class FileLimit {
 public:
  explicit FileLimit(rlim_t bytes) : before_(), handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileLimit() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }
  FileLimit(const FileLimit&) = delete;
  FileLimit& operator=(const FileLimit&) = delete;

 private:
  rlimit before_;
  void (*handler_)(int);
};

TEST_CASE("ranks of one host share memory that has no name, and leave nothing of it") {
  const auto before = named_shared_memory();
  with_group("shm", 3, [&](Communicator& group) {
    group.barrier("all are here").wait();
    expect(shared_mappings() >= 3, "nothing is shared");
    group.barrier("all have looked").wait();
    expect(shared_descriptors() == 0, "it could still be opened");
    expect(named_shared_memory() == before, "it has a name");
    group.barrier("all have looked again").wait();
  });
  CHECK(shared_mappings() == 0);
}

TEST_CASE("without shared memory auto takes gloo and says why, and shm is refused") {
  const FileLimit limit(1 << 20);
  on_ranks(2, 60s, [](const Endpoint& endpoint) {
    const auto connection = connect("auto", endpoint);
    expect(connection.communicator->name() == "gloo", "another one was taken");
    expect_contains(connection.why, "not shm: shared memory cannot be made");
    connection.communicator->barrier("x").wait();
    Endpoint other = endpoint;
    other.group = "other";
    std::string error;
    try {
      connect("shm", other);
    } catch (const UnsupportedError& refused) {
      error = refused.what();
    }
    expect_contains(error, "(on rank 0)");
  });
}

TEST_CASE("messages that nobody waits for yet are no obstacle to others, of any length") {
  with_group("shm", 3, [](Communicator& group) {
    const int next = (group.rank() + 1) % 3, before = (group.rank() + 2) % 3;
    const auto length = [](int tag) { return std::int64_t{tag} * 5003; };
    std::vector<Work> sends;
    for (int tag = 0; tag < 20; ++tag) {
      for (int copy = 0; copy < 2; ++copy) {
        sends.push_back(
            group.send(values(group.rank() + copy, {length(tag)}, at::kFloat), next, tag, "out"));
      }
    }
    for (int tag = 19; tag >= 0; --tag) {
      for (int copy = 0; copy < 2; ++copy) {
        auto tensor = at::empty({length(tag)});
        group.receive(tensor, before, tag, "in").wait();
        expect(same_bits(tensor, values(before + copy, {length(tag)}, at::kFloat)),
               "tag " + std::to_string(tag) + " has other values");
      }
    }
    for (Work& send : sends) send.wait();
  });
}

TEST_CASE("two groups at once, and groups of groups, do not mix") {
  on_ranks(4, 60s, [](const Endpoint& endpoint) {
    const auto first = connect("shm", endpoint).communicator;
    Endpoint again = endpoint;
    again.group = "again";
    const auto second = connect("shm", again).communicator;
    const auto half = first->split(endpoint.rank % 2, endpoint.rank);
    for (int round = 0; round < 50; ++round) {
      auto a = at::zeros({3}).fill_(endpoint.rank), b = at::zeros({70'000}).fill_(1),
           c = at::zeros({2}).fill_(10);
      auto work = first->all_reduce(a, ReduceOp::sum, "first");
      second->all_reduce(b, ReduceOp::sum, "second").wait();
      half->all_reduce(c, ReduceOp::sum, "half").wait();
      work.wait();
      expect(a.sum().item<float>() == 18 && b.sum().item<float>() == 280'000 &&
                 c.sum().item<float>() == 40,
             "other sums");
    }
  });
}

}  // namespace
}  // namespace muster::test
