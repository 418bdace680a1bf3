#pragma once

#include <muster/background.hpp>
#include <muster/communicator.hpp>
#include <muster/control.hpp>

#include "communicators/title.hpp"

namespace muster {

/// Tells the launcher what this rank is doing, for when it hangs or dies there. Every communicator
/// does so when it begins and ends an operation. Cheap; any thread.
inline void note(const Operation& operation, CollectiveState state) noexcept {
  if (operation.label.starts_with(background)) return;
  const auto tensor = tensor_text(operation);
  Control::instance().note({operation.sequence, operation.bytes(), state, to_string(operation.kind),
                            operation.label, tensor});
}

}  // namespace muster
