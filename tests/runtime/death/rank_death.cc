// rank_death HOW: a rank that dies as it is told, after its Accelerator was made. Not a .cpp, for
// it is a program of its own beside the test program of this folder.

#include <muster/accelerator.hpp>
#include <muster/data_loader.hpp>

#include <array>
#include <csignal>
#include <cstdlib>
#include <iostream>
#include <stdexcept>
#include <string_view>

namespace {

/// Deeper and deeper until the stack is full.
int overflow(int depth) {
  std::array<volatile char, 4096> frame{};
  frame[static_cast<std::size_t>(depth) % frame.size()] = 1;
  return depth < 0 ? frame[0] : overflow(depth + 1) + frame[0];
}

/// Faults where it is read.
struct FaultyDataset {
  std::int64_t size() const { return 4; }
  at::Tensor get(std::int64_t) const {
    *static_cast<volatile int*>(nullptr) = 1;
    return {};
  }
};

void die(const muster::Accelerator& accelerator, std::string_view how) {
  // Rank 1 dies, and the other waits for it.
  if (how == "peer" && accelerator.is_main_process()) accelerator.wait_for_everyone("the end");
  if (how == "peer") throw std::runtime_error("rank 1 has no more data");
  if (how == "throw") throw std::runtime_error("batch 17: label 11 is not in [0, 10)");
  if (how == "throw-number") throw 17;
  if (how == "abort") std::abort();
  if (how == "fault") *static_cast<volatile int*>(nullptr) = 1;
  if (how == "worker-fault") muster::DataLoader(FaultyDataset{}, {.num_workers = 1}).begin();
  if (how == "raise") std::raise(SIGFPE);
  if (how == "overflow") std::exit(overflow(0));
  if (how == "handled") {
    std::signal(SIGSEGV, [](int) { std::_Exit(9); });
    std::raise(SIGSEGV);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const muster::Accelerator accelerator;
  die(accelerator, argv[1]);
  std::cerr << "rank_death: no way to die is called " << argv[1] << '\n';
  return 2;
}
