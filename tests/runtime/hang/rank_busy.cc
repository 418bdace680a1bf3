// rank_busy HOW: ranks that take two steps, and then do for SECONDS what is no step. Not a .cpp,
// for it is a program of its own beside the test program of this folder.

#include <muster/accelerator.hpp>
#include <muster/control.hpp>
#include <muster/data_loader.hpp>
#include <muster/dataset.hpp>

#include "runtime/nets.hpp"

#include <torch/torch.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>
#include <string_view>
#include <thread>

namespace {

using muster::Accelerator;

constexpr std::int64_t batches = 12;

void nap(double seconds) { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); }

/// Named, to be seen on a stack. Signals that come meanwhile do not end it.
[[gnu::noinline]] void sleep_in_my_own_code(double seconds) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  while (std::chrono::steady_clock::now() < end) nap(0.02);
}

/// Signals come most often while a lock of the allocator is held.
[[gnu::noinline]] void allocate_in_my_own_code(double seconds) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  std::size_t size = 1;
  while (std::chrono::steady_clock::now() < end) {
    const auto memory = std::make_unique<char[]>(size);
    memory[size - 1] = 1;
    size = size * 7 % 100'003 + 1;
  }
}

void block_urgent_signals() {
  sigset_t urgent;
  sigemptyset(&urgent);
  sigaddset(&urgent, SIGURG);
  pthread_sigmask(SIG_BLOCK, &urgent, nullptr);
}

/// For all of `seconds`, in as many parts as there are batches.
void read_batches(Accelerator& accelerator, double seconds) {
  auto loader = accelerator.prepare(muster::DataLoader(
      muster::TensorDataset(torch::zeros({batches * accelerator.num_processes(), 8}),
                            torch::zeros({batches * accelerator.num_processes()})),
      {.batch_size = 1}));
  for (const auto& batch : loader) nap(seconds / batches * static_cast<double>(batch.data.size(0)));
}

void run_forward(Accelerator& accelerator, double seconds) {
  auto model = accelerator.prepare(std::make_shared<muster::test::Mlp>());
  for (std::int64_t i = 0; i < batches; ++i) {
    model(torch::zeros({1, 8}));
    nap(seconds / batches);
  }
}

/// Rank 0 is busy, and the others wait for it.
void busy_on_rank_0(Accelerator& accelerator, double seconds) {
  if (accelerator.is_main_process()) {
    const auto outer = accelerator.busy("evaluation");
    {
      auto inner = accelerator.busy("metrics");
      const auto moved = std::move(inner);
    }
    sleep_in_my_own_code(seconds);
  }
  accelerator.wait_for_everyone("evaluation");
}

void behave(Accelerator& accelerator, std::string_view how, double seconds) {
  if (how == "busy") return busy_on_rank_0(accelerator, seconds);
  if (how == "main-first")
    return accelerator.main_process_first([&] {
      if (accelerator.is_main_process()) sleep_in_my_own_code(seconds);
    });
  if (how == "batches") return read_batches(accelerator, seconds);
  if (how == "forward") return run_forward(accelerator, seconds);
  if (how == "allocate") return allocate_in_my_own_code(seconds);
  if (how == "after-busy") {
    const auto over = std::make_unique<muster::Busy>(accelerator.busy("evaluation"));
  }
  sleep_in_my_own_code(seconds);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const std::string_view how = argv[1];
  if (how == "handles") std::signal(SIGURG, [](int) { std::_Exit(9); });
  Accelerator accelerator;
  if (how == "blocks") block_urgent_signals();
  for (std::uint64_t step = 1; step <= 2; ++step) {
    accelerator.wait_for_everyone("step");
    muster::Control::instance().step(step);
  }
  std::cout << "begins" << std::endl;
  behave(accelerator, how, std::atof(argv[2]));
  accelerator.wait_for_everyone("the end");
}
