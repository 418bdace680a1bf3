#include "diagnose/read_stacks.hpp"

#include "diagnose/process_files.hpp"
#include "diagnose/python_stack.hpp"
#include "diagnose/symbols.hpp"
#include "diagnose/unwind.hpp"

#include <algorithm>
#include <memory>
#include <utility>

namespace muster::launcher {
namespace {

/// What names have to be found for.
struct Reading {
  RankState* rank;
  MemoryMap map;
  std::unique_ptr<RemoteMemory> memory;
};

void read_one(Reading& reading, Deadline deadline) {
  RankState& rank = *reading.rank;
  reading.map = MemoryMap::parse(maps_of(rank.pid));
  auto process = take_snapshot(rank.pid, deadline);
  rank.unread = process.fault;
  for (auto& snapshot : process.threads) {
    ThreadStack stack{snapshot.thread, snapshot.name, {}, snapshot.fault};
    if (snapshot.fault.empty()) {
      reading.memory->use(snapshot.registers.sp(), snapshot.stack);
      auto unwound = unwind(*reading.memory, reading.map, snapshot.registers);
      stack.frames = std::move(unwound.frames);
      stack.end = std::move(unwound.end);
    }
    rank.threads.push_back(std::move(stack));
  }
  static const std::vector<char> nothing;
  reading.memory->use(0, nothing);  // The copies are gone.
}

}  // namespace

void read_stacks(std::vector<RankState>& ranks, Deadline deadline) {
  std::vector<Reading> readings;
  for (RankState& rank : ranks) {
    if (rank.ended || rank.pid <= 0) continue;
    readings.push_back({&rank, {}, std::make_unique<RemoteMemory>(rank.pid)});
    read_one(readings.back(), deadline);
  }
  Symbols symbols;
  for (Reading& reading : readings) {
    for (ThreadStack& thread : reading.rank->threads) {
      for (StackFrame& frame : thread.frames) symbols.add(*reading.memory, reading.map, frame);
    }
  }
  symbols.resolve(deadline);
  for (const Reading& reading : readings) read_python(*reading.rank, deadline);
}

void name_addresses(RankState& rank, const std::vector<std::uint64_t>& addresses,
                    Deadline deadline) {
  ThreadStack stack{rank.pid, "", {}, ""};
  for (const auto address : addresses)
    stack.frames.push_back({.address = address, .function = {}, .module = {}, .offset = 0});
  RemoteMemory memory(rank.pid);
  const auto map = MemoryMap::parse(maps_of(rank.pid));
  Symbols symbols;
  for (StackFrame& frame : stack.frames) symbols.add(memory, map, frame);
  symbols.resolve(deadline);
  rank.threads.push_back(std::move(stack));
}

}  // namespace muster::launcher
