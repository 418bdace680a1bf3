#pragma once

#include <muster/operation.hpp>

#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace muster {

/// Whether a group that executes operations at once was aborted, and why. Any thread may call.
class Aborted {
 public:
  /// The first reason counts.
  void set(std::string_view reason) noexcept;
  /// Throws CommunicationError with the reason if there is one.
  void refuse(const Operation& operation, int rank) const;

 private:
  mutable std::mutex mutex_;
  std::optional<std::string> reason_;
};

}  // namespace muster
