#pragma once

#include <muster/error.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace muster {

/// A communication did not end before its deadline. A launcher of ours has looked at all ranks, and
/// said what each does, before this is thrown.
class CommunicationTimeout : public CommunicationError {
 public:
  /// Of the communication that was waited for.
  struct Details {
    std::string operation;       ///< "all_reduce"
    std::string label;           ///< "gradients 3/5"
    std::uint64_t sequence = 0;  ///< In its group, from 1.
    std::vector<int> peers;      ///< Ranks of the group that did not come; empty: all did.
  };
  CommunicationTimeout(const std::string& message, Details details)
      : CommunicationError(message), details_(std::move(details)) {}

  const Details& details() const noexcept { return details_; }

 private:
  Details details_;
};

/// Ranks called collectives that do not belong together. what() tells what each called.
class CollectiveMismatch : public CommunicationError {
 public:
  using CommunicationError::CommunicationError;
};

}  // namespace muster
