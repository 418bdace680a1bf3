#include "communicators/aborted.hpp"

#include <muster/error.hpp>

#include "communicators/title.hpp"
#include "text.hpp"

namespace muster {

void Aborted::set(std::string_view reason) noexcept {
  const std::lock_guard lock(mutex_);
  if (!reason_) {
    reason_ = std::string(reason);
  }
}

void Aborted::refuse(const Operation& operation, int rank) const {
  const std::lock_guard lock(mutex_);
  if (reason_) {
    throw CommunicationError(title(operation) + " on " + rank_text(rank) +
                             ": the group was aborted: " + *reason_);
  }
}

}  // namespace muster
