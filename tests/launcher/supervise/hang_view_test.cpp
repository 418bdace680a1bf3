// What ranks say in the memory that they share with the launcher, as it finds it.

#include "supervise/hang_view.hpp"

#include "supervise/kernel.hpp"

#include <catch2/catch_test_macros.hpp>

#include <atomic>
#include <cstring>
#include <limits>
#include <string>
#include <sys/mman.h>
#include <thread>

namespace muster::launcher {
namespace {

/// The memory of one rank's slot, as that rank has it.
class RankMemory {
 public:
  explicit RankMemory(const ControlServer& server) {
    void* const memory = ::mmap(nullptr, sizeof(ControlSlot), PROT_READ | PROT_WRITE, MAP_SHARED,
                                server.memory(), 0);
    REQUIRE(memory != MAP_FAILED);
    slot_ = static_cast<ControlSlot*>(memory);
  }
  RankMemory(const RankMemory&) = delete;
  RankMemory& operator=(const RankMemory&) = delete;
  ~RankMemory() { ::munmap(slot_, sizeof(ControlSlot)); }
  ControlSlot& slot() { return *slot_; }

 private:
  ControlSlot* slot_ = nullptr;
};

/// All fields of `slot` say `letter`, whole only when the version is even.
void write_all(ControlSlot& slot, char letter) {
  const auto fill = [letter](auto& field) {
    for (std::size_t i = 0; i + 1 < sizeof field; ++i)
      std::atomic_ref<char>(field[i]).store(letter, std::memory_order_release);
  };
  slot.version.fetch_add(1);
  slot.sequence.store(static_cast<std::uint64_t>(letter), std::memory_order_release);
  fill(slot.operation);
  fill(slot.label);
  fill(slot.tensor);
  fill(slot.busy);
  slot.version.fetch_add(1, std::memory_order_release);
}

JobFacts one_rank() {
  JobFacts facts;
  facts.ranks.resize(1);
  return facts;
}

TEST_CASE("a slot that is written meanwhile is seen whole or not at all") {
  ControlServer server(1);
  RankMemory memory(server);
  std::atomic<bool> done = false;
  std::thread writer([&] {
    for (int turn = 0; !done; ++turn) {
      write_all(memory.slot(), turn % 2 == 0 ? 'a' : 'b');
      std::this_thread::yield();
    }
  });
  int whole = 0, torn = 0;
  for (int i = 0; i < 100'000; ++i) {
    const auto note = server.note_of(0);
    if (!note || note->sequence == 0) continue;
    ++whole;
    const auto letter = static_cast<char>(note->sequence);
    for (const auto* text : {&note->operation, &note->label, &note->tensor, &note->busy})
      torn += text->find_first_not_of(letter) == text->npos ? 0 : 1;
  }
  done = true;
  writer.join();
  CHECK(whole > 0);
  CHECK(torn == 0);
}

TEST_CASE("times that a rank cannot have seen are not believed") {
  ControlServer server(1);
  RankMemory memory(server);
  auto& slot = memory.slot();
  for (const std::int64_t wrong : {std::numeric_limits<std::int64_t>::min(), std::int64_t{-1},
                                   std::numeric_limits<std::int64_t>::max()}) {
    slot.since_ns = slot.active_ns = slot.busy_ns = wrong;
    const auto view = hang_view(one_rank(), server, 1);
    REQUIRE(view.ranks[0].note);
    const auto& note = *view.ranks[0].note;
    for (const auto time : {note.since_ns, note.active_ns, note.busy_ns}) {
      CHECK(time >= 0);
      CHECK(time <= view.now_ns);
    }
  }
}

}  // namespace
}  // namespace muster::launcher
