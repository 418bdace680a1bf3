#include "control_slot.hpp"

#include <algorithm>
#include <cstddef>
#include <type_traits>

namespace muster {
namespace {

// Both sides map the same memory: no lock of the library may hide in it, and fresh zeros are a
// slot that says nothing.
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);
static_assert(std::atomic<std::uint32_t>::is_always_lock_free);
static_assert(std::is_standard_layout_v<ControlSlot>);
static_assert(std::is_trivially_destructible_v<ControlSlot>);

// Who reads what was written after the version became odd also sees the odd version: a field is
// released after it and acquired before the second look. Fences would say it once, but the thread
// sanitizer does not know them.
constexpr auto relaxed = std::memory_order_relaxed;
constexpr auto acquire = std::memory_order_acquire;
constexpr auto release = std::memory_order_release;

/// Byte by byte through atomics, as the other side may read meanwhile.
template <std::size_t size>
void put(char (&field)[size], std::string_view text) noexcept {
  const std::size_t length = std::min(text.size(), size - 1);
  for (std::size_t i = 0; i < length; ++i) std::atomic_ref<char>(field[i]).store(text[i], release);
  std::atomic_ref<char>(field[length]).store('\0', release);
}

template <std::size_t size>
std::string get(const char (&field)[size]) {
  std::string text;
  for (const char& letter : field) {
    // atomic_ref takes no const object before C++26; this one is only read.
    const char value = std::atomic_ref<char>(const_cast<char&>(letter)).load(acquire);
    if (value == '\0') break;
    text += value;
  }
  return text;
}

CollectiveState state_of(std::uint32_t number) {
  const auto last = static_cast<std::uint32_t>(CollectiveState::failed);
  return number <= last ? static_cast<CollectiveState>(number) : CollectiveState::none;
}

}  // namespace

void write_slot(ControlSlot& slot, const CollectiveNote& note, std::int64_t now_ns) noexcept {
  const std::uint64_t version = slot.version.load(relaxed);
  // It begins once: what was queued runs later.
  const bool under_way =
      note.state == CollectiveState::queued || note.state == CollectiveState::running;
  const bool was_queued = slot.sequence.load(relaxed) == note.sequence &&
                          state_of(slot.state.load(relaxed)) == CollectiveState::queued;
  slot.version.store(version + 1, relaxed);
  slot.sequence.store(note.sequence, release);
  slot.bytes.store(note.bytes, release);
  slot.state.store(static_cast<std::uint32_t>(note.state), release);
  if (under_way && !was_queued) slot.since_ns.store(now_ns, release);
  put(slot.operation, note.operation);
  put(slot.label, note.label);
  put(slot.tensor, note.tensor);
  slot.version.store(version + 2, release);
}

void write_busy(ControlSlot& slot, std::string_view what, std::int64_t now_ns) noexcept {
  const std::uint64_t version = slot.version.load(relaxed);
  slot.version.store(version + 1, relaxed);
  slot.busy_ns.store(what.empty() ? 0 : now_ns, release);
  put(slot.busy, what);
  slot.version.store(version + 2, release);
}

std::optional<ControlNote> read_slot(const ControlSlot& slot) {
  constexpr int tries = 100;
  for (int i = 0; i < tries; ++i) {
    const std::uint64_t before = slot.version.load(acquire);
    if (before % 2 != 0) continue;
    ControlNote note;
    note.sequence = slot.sequence.load(acquire);
    note.bytes = slot.bytes.load(acquire);
    note.step = slot.step.load(relaxed);
    note.state = state_of(slot.state.load(acquire));
    note.operation = get(slot.operation);
    note.label = get(slot.label);
    note.tensor = get(slot.tensor);
    note.waiting = slot.waiting.load(acquire);
    note.since_ns = slot.since_ns.load(acquire);
    note.active_ns = slot.active_ns.load(relaxed);
    note.busy = get(slot.busy);
    note.busy_ns = slot.busy_ns.load(acquire);
    if (slot.version.load(relaxed) == before) return note;
  }
  return std::nullopt;
}

}  // namespace muster
