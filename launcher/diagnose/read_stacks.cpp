#include "diagnose/read_stacks.hpp"

#include "diagnose/process_files.hpp"
#include "diagnose/python_stack.hpp"
#include "diagnose/symbols.hpp"
#include "diagnose/unwind.hpp"

#include <utility>

namespace muster::launcher {
namespace {

void read_one(RankState& rank, Symbols& symbols, Deadline deadline) {
  const auto speaks = living_thread(rank.pid);
  RemoteMemory memory(speaks);
  const auto map = MemoryMap::parse(maps_of(speaks));
  auto process = take_snapshot(rank.pid, deadline);
  rank.unread = process.fault;
  rank.unseen_threads = process.unseen;
  for (auto& snapshot : process.threads) {
    ThreadStack stack{snapshot.thread, snapshot.name, {}, snapshot.fault};
    if (snapshot.fault.empty()) {
      memory.use(snapshot.registers.sp(), snapshot.stack);
      auto unwound = unwind(memory, map, snapshot.registers);
      stack.frames = std::move(unwound.frames);
      stack.end = std::move(unwound.end);
    }
    rank.threads.push_back(std::move(stack));
  }
  static const std::vector<char> nothing;
  memory.use(0, nothing);  // The copies are gone.
  for (ThreadStack& thread : rank.threads)
    for (StackFrame& frame : thread.frames) symbols.add(memory, map, frame);
}

}  // namespace

void read_stacks(std::vector<RankState>& ranks, Deadline deadline) {
  Symbols symbols;
  for (RankState& rank : ranks)
    if (!rank.ended && rank.pid > 0) read_one(rank, symbols, deadline);
  symbols.resolve(deadline);
  for (RankState& rank : ranks)
    if (!rank.ended && rank.pid > 0) read_python(rank, deadline);
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
