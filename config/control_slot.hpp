#pragma once

#include <muster/control.hpp>

namespace muster {

/// What a rank writes into its slot; a ControlNote that owns nothing, so that writing cannot throw.
struct SlotUpdate {
  std::uint64_t sequence = 0, bytes = 0;
  CollectiveState state = CollectiveState::none;
  std::string_view operation, label;
};

/// Writes all fields but `step`. One writer at a time.
void write_slot(ControlSlot& slot, const SlotUpdate& update) noexcept;

}  // namespace muster
