// What the transport itself must do beyond the conformance suite.

#include <muster/error.hpp>

#include "backends/catch.hpp"
#include "backends/ranks.hpp"
#include "backends/values.hpp"

#include <ATen/ops/full.h>
#include <ATen/ops/zeros.h>

#include <atomic>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <latch>
#include <string>
#include <thread>

namespace muster::test {
namespace {

using namespace std::chrono_literals;

/// Sockets of this process.
int sockets() {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    const auto target = std::filesystem::read_symlink(entry.path(), gone).string();
    count += target.starts_with("socket:") ? 1 : 0;
  }
  return count;
}

std::chrono::nanoseconds cpu_time() {
  timespec time{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

/// Waits for the other rank.
void meet(std::latch& latch) {
  latch.count_down();
  const auto end = std::chrono::steady_clock::now() + 60s;
  while (!latch.try_wait()) {
    expect(std::chrono::steady_clock::now() < end, "the other rank has ended");
    std::this_thread::sleep_for(1ms);
  }
}

TEST_CASE("messages of all sizes and numbers arrive where they belong, beside collectives") {
  for (const std::int64_t numel : {4000, 300000}) {
    REQUIRE_NOTHROW(with_group("gloo", 2, [&](Communicator& group) {
      for (int i = 0; i < 6; ++i) {
        auto received = at::zeros({numel});
        if (group.rank() == 0) {
          group.send(values(i, {numel}, at::kFloat), 1, 0, "send").wait(20s);
        } else {
          group.receive(received, 0, 0, "receive").wait(20s);
          expect(same_bits(received, values(i, {numel}, at::kFloat)),
                 "message " + std::to_string(i) + " is another");
        }
      }
      group.barrier("all messages").wait(20s);
      auto tensor = values(group.rank(), {numel}, at::kFloat);
      group.broadcast(tensor, 1, "data").wait(20s);
      expect(same_bits(tensor, values(1, {numel}, at::kFloat)), "data of a collective");
    }));
  }
}

TEST_CASE("abort closes all connections, also half-way through a transfer") {
  constexpr std::int64_t numel = 16 << 20;
  std::latch connected(2);
  std::latch failed(2);
  std::latch counted(2);
  int before = 0;
  int after = 0;
  std::chrono::nanoseconds spent{};
  REQUIRE_NOTHROW(on_ranks(2, 60s, [&](const Endpoint& endpoint) {
    auto group = connect("gloo", endpoint).communicator;
    const auto input = values(endpoint.rank, {numel}, at::kFloat);
    auto output = at::full({numel}, -1e30);
    meet(connected);
    if (endpoint.rank == 0) {
      before = sockets();
    }
    group->barrier("counted").wait();
    auto work = group->all_reduce(output, input, ReduceOp::sum, "half-way");
    if (endpoint.rank == 0) {
      // What rank 1 has folded arrives: so much is still to come.
      std::atomic_ref first_of_rank_1(output.mutable_data_ptr<float>()[numel / 2]);
      while (first_of_rank_1.load() == -1e30F && !work.done()) {
        std::this_thread::yield();
      }
      group->abort("the test wants it");
    }
    try {
      work.wait();
    } catch (const CommunicationError&) {
      // Expected, unless all had arrived already.
    }
    group->abort("both");
    output.reset();
    meet(failed);
    if (endpoint.rank == 0) {
      after = sockets();
      const auto start = cpu_time();
      std::this_thread::sleep_for(1s);
      spent = cpu_time() - start;
    }
    meet(counted);
  }));
  // Six connections, both ends of them here.
  CHECK(before - after == 12);
  CHECK(spent < 500ms);  // Gloo's thread looks all the time at what it can give to nobody.
}

}  // namespace
}  // namespace muster::test
