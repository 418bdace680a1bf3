// Ranks that are processes of their own: one that dies, one that is stopped, one that hangs.

#include <muster/control.hpp>
#include <muster/error.hpp>

#include "backends/catch.hpp"
#include "backends/process.hpp"
#include "backends/ranks.hpp"
#include "backends/values.hpp"

#include <ATen/ops/zeros.h>
#include <catch2/generators/catch_generators.hpp>

#include <csignal>
#include <cstdlib>
#include <iostream>
#include <string>
#include <sys/mman.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

namespace muster::test {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

/// communicator: of the children. deadline: of "rank of a job", in seconds.
std::map<std::string, std::string> variables(const HeldPort& port, int rank, int size,
                                             const std::string& communicator = "gloo",
                                             const std::string& deadline = "60") {
  auto variables = world_at(port, rank, size, 20s).to_environment();
  variables["TEST_COMMUNICATOR"] = communicator;
  variables["MUSTER_LAUNCH_COMM_TIMEOUT"] = "20";
  variables["TEST_DEADLINE"] = deadline;
  return variables;
}

/// Waits until a child has printed `text`.
void await_output(Process& process, const std::string& text) {
  const auto end = Clock::now() + 60s;
  while (process.output().find(text) == std::string::npos) {
    expect(Clock::now() < end, "a child did not print '" + text + "' but: " + process.output());
    std::this_thread::sleep_for(10ms);
  }
}

TEST_CASE("rank of a job", "[.rank]") {
  const auto world = World::from_environment(current_environment());
  Endpoint endpoint;
  endpoint.rank = world.rank;
  endpoint.size = world.size;
  endpoint.timeout = world.timeout;
  endpoint.rendezvous = Rendezvous::open(world);
  auto group = connect(current_environment().at("TEST_COMMUNICATOR"), endpoint).communicator;
  auto tensor = values(world.rank, {3000000}, at::kFloat);
  group->all_reduce(tensor, ReduceOp::sum, "first").wait();
  const std::chrono::seconds deadline(std::stoi(current_environment().at("TEST_DEADLINE")));
  std::cout << "ready" << std::endl;
  try {
    for (;;) {
      group->all_reduce(tensor, ReduceOp::max, "forever").wait(deadline);
    }
  } catch (const CommunicationError& error) {
    std::cout << "error: " << error.what() << std::endl;
    std::_Exit(9);
  }
}

TEST_CASE("rank that stops taking part", "[.absent]") {
  const auto world = World::from_environment(current_environment());
  Endpoint endpoint;
  endpoint.rank = world.rank;
  endpoint.size = world.size;
  endpoint.rendezvous = Rendezvous::open(world);
  auto group = connect(current_environment().at("TEST_COMMUNICATOR"), endpoint).communicator;
  group->barrier("first").wait();
  if (world.rank == 0) {
    group->barrier("the others never come").wait();
  }
  ::pause();
}

TEST_CASE("when a rank is killed in the middle of a transfer the others are told in time") {
  const HeldPort port;
  const std::string communicator = GENERATE("gloo", "shm");
  for (const int victim : {0, 1}) {
    Process first("[.rank]", variables(port, 0, 2, communicator));
    Process second("[.rank]", variables(port, 1, 2, communicator));
    auto& dies = victim == 0 ? first : second;
    auto& lives = victim == 0 ? second : first;
    await_output(first, "ready");
    await_output(second, "ready");
    std::this_thread::sleep_for(50ms);
    dies.signal(SIGKILL);
    CHECK(lives.wait() == 9);
    const auto text = lives.output();
    INFO(text);
    CHECK(text.find("all_reduce #") != std::string::npos);
    CHECK(text.find("'forever' on rank " + std::to_string(1 - victim)) != std::string::npos);
    CHECK(text.find("rank " + std::to_string(victim) + " is gone") != std::string::npos);
    CHECK(dies.wait() == 128 + SIGKILL);
  }
}

TEST_CASE("a rank that is stopped is named when the deadline has passed") {
  const HeldPort port;
  const std::string communicator = GENERATE("gloo", "shm");
  Process first("[.rank]", variables(port, 0, 3, communicator, "4"));
  Process second("[.rank]", variables(port, 1, 3, communicator, "4"));
  Process third("[.rank]", variables(port, 2, 3, communicator, "4"));
  for (auto* process : {&first, &second, &third}) {
    await_output(*process, "ready");
  }
  third.signal(SIGSTOP);
  CHECK(first.wait() == 9);
  CHECK(second.wait() == 9);
  for (auto* process : {&first, &second}) {
    const auto text = process->output();
    INFO(text);
    CHECK(text.find("after 4.0 s") != std::string::npos);
  }
  third.signal(SIGCONT);
  const int code = third.wait();
  INFO(third.output());
  CHECK(code == 9);
}

TEST_CASE("the launcher can read where a rank hangs") {
  const HeldPort port;
  const int memory = ::memfd_create("control", MFD_CLOEXEC);
  REQUIRE(::ftruncate(memory, sizeof(ControlSlot)) == 0);
  int sockets[2];
  REQUIRE(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) == 0);
  auto first_variables = variables(port, 0, 2);
  first_variables["MUSTER_CONTROL_FD"] = std::to_string(sockets[1]);
  first_variables["MUSTER_CONTROL_MEMORY_FD"] = std::to_string(memory);
  const Process first("[.absent]", first_variables, {sockets[1], memory});
  const Process second("[.absent]", variables(port, 1, 2));
  const auto* const slot = static_cast<const ControlSlot*>(
      ::mmap(nullptr, sizeof(ControlSlot), PROT_READ, MAP_SHARED, memory, 0));
  REQUIRE(slot != MAP_FAILED);
  std::optional<ControlNote> note;
  const auto end = Clock::now() + 60s;
  while (Clock::now() < end &&
         !(note && note->sequence == 2 && note->state == CollectiveState::running)) {
    std::this_thread::sleep_for(10ms);
    note = read_slot(*slot);
  }
  REQUIRE(note.has_value());
  CHECK(note->sequence == 2);
  CHECK(note->operation == "barrier");
  CHECK(note->label == "the others never come");
  CHECK(note->state == CollectiveState::running);
  ::munmap(const_cast<ControlSlot*>(slot), sizeof(ControlSlot));
  ::close(memory);
  ::close(sockets[0]);
  ::close(sockets[1]);
}

}  // namespace
}  // namespace muster::test
