#pragma once

#include <muster/control.hpp>
#include <muster/error.hpp>

#include <string_view>

namespace muster {

/// Calls `join`, which waits for other ranks, and returns what it does. Meanwhile the launcher
/// knows that this rank waits there, and it looks at all ranks before an error is thrown on.
/// what: "connect", ...; label: of the group.
template <class Join>
auto joining(std::string_view what, std::string_view label, Join join) {
  auto& control = Control::instance();
  const auto tell = [&](CollectiveState state) { control.note({0, 0, state, what, label, ""}); };
  tell(CollectiveState::running);
  control.waiting(true);
  try {
    auto joined = join();
    control.waiting(false);
    tell(CollectiveState::done);
    return joined;
  } catch (const CommunicationError& error) {
    // A rank that died is told of as such: "lost" leaves time for that.
    control.stuck("lost", 0, error.what());
    control.waiting(false);
    tell(CollectiveState::failed);
    throw;
  } catch (...) {
    control.waiting(false);
    tell(CollectiveState::failed);
    throw;
  }
}

}  // namespace muster
