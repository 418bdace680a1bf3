// Rounds of shared memory with ranks as threads, at random speeds: every rank must see what every
// other put in and left in that round. Built with the thread sanitizer.
// usage: rank_threads RANKS ROUNDS

#include "communicators/shm/rounds.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <thread>
#include <vector>

namespace muster::shm {
namespace {

std::uint32_t number(int rank, int round, int kind) {
  return static_cast<std::uint32_t>((round * 1000 + rank) * 2 + kind);
}

void dawdle(std::mt19937& random) {
  const auto way = random() % 16;
  if (way < 4) std::this_thread::yield();
  if (way == 4) std::this_thread::sleep_for(std::chrono::microseconds(random() % 200));
}

void write(std::byte* to, std::uint32_t value) {
  for (std::size_t at = 0; at < 256; at += sizeof value) std::memcpy(to + at, &value, sizeof value);
}

void check(const std::byte* from, std::uint32_t expected) {
  for (std::size_t at = 0; at < 256; at += sizeof expected) {
    std::uint32_t found = 0;
    std::memcpy(&found, from + at, sizeof found);
    if (found == expected) continue;
    std::fprintf(stderr, "found %u, expected %u\n", found, expected);
    std::abort();
  }
}

void run(std::byte* memory, int rank, int ranks, int rounds) {
  Board board(memory, rank, ranks);
  board.publish(board.own().arrived, 1);
  for (int peer = 0; peer < ranks; ++peer) {
    board.await(peer,
                [&] { return board.state(peer).arrived.load(std::memory_order_acquire) == 1; });
  }
  board.ready();
  Rounds steps(board);
  std::mt19937 random(static_cast<unsigned>(rank));
  std::mt19937 together(7);  // Which rounds have results is the same on all ranks.
  for (int round = 0; round < rounds; ++round) {
    dawdle(random);
    write(steps.input(rank), number(rank, round, 0));
    steps.put();
    steps.await_put();
    for (int peer = 0; peer < ranks; ++peer) check(steps.input(peer), number(peer, round, 0));
    dawdle(random);
    if (together() % 2 == 0) {
      write(steps.result(rank), number(rank, round, 1));
      steps.leave();
      steps.await_results();
      for (int peer = 0; peer < ranks; ++peer) check(steps.result(peer), number(peer, round, 1));
      dawdle(random);
    }
    steps.end();
  }
}

}  // namespace
}  // namespace muster::shm

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const int ranks = std::atoi(argv[1]), rounds = std::atoi(argv[2]);
  const muster::shm::Layout layout(ranks);
  const std::unique_ptr<std::byte, decltype(&std::free)> memory(
      static_cast<std::byte*>(std::aligned_alloc(4096, (layout.bytes() + 4095) / 4096 * 4096)),
      &std::free);
  std::memset(memory.get(), 0, layout.bytes());
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([&, rank] { muster::shm::run(memory.get(), rank, ranks, rounds); });
  }
  for (auto& thread : threads) thread.join();
  std::puts("ok");
}
