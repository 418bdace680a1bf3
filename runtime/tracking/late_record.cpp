#include "tracking/late_record.hpp"

#include <algorithm>

namespace muster::tracking {

bool LateRecord::ready() const {
  return std::ranges::all_of(items, [](const LateItem& item) {
    const auto* late = std::get_if<std::shared_ptr<LateNumber>>(&item.value);
    return late == nullptr || (*late)->ready();
  });
}

TrackedRecord LateRecord::record() const {
  TrackedRecord result{step, time, {}};
  for (const auto& [name, value] : items) {
    const auto* late = std::get_if<std::shared_ptr<LateNumber>>(&value);
    // Columns of every record; a program's own values by these names keep a place beside them.
    const bool taken = name == "step" || name == "time";
    result.items.push_back({taken ? "logged_" + name : name,
                            late == nullptr ? std::get<TrackedValue>(value) : (*late)->value()});
  }
  return result;
}

}  // namespace muster::tracking
