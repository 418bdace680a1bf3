#pragma once

#include <muster/control.hpp>

namespace muster {

/// Writes what belongs to the collective. One writer at a time.
void write_slot(ControlSlot& slot, const CollectiveNote& note, std::int64_t now_ns) noexcept;

/// Writes what the rank is busy with; empty: nothing. One writer at a time.
void write_busy(ControlSlot& slot, std::string_view what, std::int64_t now_ns) noexcept;

}  // namespace muster
