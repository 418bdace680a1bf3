// rank_hang HOW: ranks that take a few steps, and then rank 1 does something else. Not a .cpp, for
// it is a program of its own beside the test program of this folder.

#include <muster/communication_error.hpp>
#include <muster/communicators.hpp>
#include <muster/control.hpp>
#include <muster/resolve.hpp>
#include <muster/world.hpp>

#include <ATen/ops/ones.h>

#include <chrono>
#include <cstdint>
#include <ctime>
#include <iostream>
#include <memory>
#include <string>
#include <string_view>
#include <thread>

namespace {

std::unique_ptr<muster::Communicator> join(const muster::World& world) {
  const auto settings = muster::resolve_in_rank(muster::current_environment(), {});
  muster::Endpoint endpoint;
  endpoint.rank = world.rank;
  endpoint.size = world.size;
  endpoint.timeout = world.timeout;
  endpoint.check_collectives = settings.settings().train.debug;
  endpoint.rendezvous = muster::Rendezvous::open(world);
  auto group = muster::connect("auto", endpoint).communicator;
  muster::Control::instance().ready();
  return group;
}

/// Named, to be seen on a stack.
[[gnu::noinline]] int sleep_in_my_own_code(int seconds) {
  std::this_thread::sleep_for(std::chrono::seconds(seconds));
  return seconds;
}

void gradients(muster::Communicator& group, std::int64_t size) {
  group.all_reduce(at::ones({size}), muster::ReduceOp::sum, "gradients").wait();
}

int hang(muster::Communicator& group, std::string_view how) {
  for (std::uint64_t step = 1; step <= 2; ++step) {
    gradients(group, 4);
    muster::Control::instance().step(step);
  }
  const bool odd = group.rank() == 1;
  if (odd && how == "exit") return 0;
  if (odd && how == "sleep") return sleep_in_my_own_code(600);
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  std::cout << "at " << now.tv_sec << '.' << now.tv_nsec / 1'000'000 + 1000 << std::endl;
  if (odd && how == "branch") group.barrier("evaluation").wait();
  if (odd && how == "label") {
    group.all_reduce(at::ones({4}), muster::ReduceOp::sum, "loss").wait();
    return 0;
  }
  gradients(group, odd && how == "shape" ? 5 : 4);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const auto group = join(muster::World::from_environment(muster::current_environment()));
  try {
    return hang(*group, argv[1]);
  } catch (const muster::CommunicationTimeout& error) {
    const auto& details = error.details();
    std::cout << "timeout of " << details.operation << " #" << details.sequence << " '"
              << details.label << "', missing";
    for (const int peer : details.peers) std::cout << ' ' << peer;
    std::cout << std::endl;
    return 9;
  } catch (const muster::CollectiveMismatch& error) {
    std::cout << "mismatch: " << error.what() << std::endl;
    return 10;
  } catch (const muster::CommunicationError& error) {
    std::cout << "error: " << error.what() << std::endl;
    return 11;
  }
}
