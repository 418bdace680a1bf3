#pragma once

#include "communicators/gloo/memory.hpp"
#include "communicators/gloo/traffic.hpp"
#include "communicators/pending.hpp"

#include <cstdint>

namespace muster::gloo {

/// A send or a receive: a letter with a header and, if they are small, the data; large data follow
/// alone. A receive is posted to Gloo only when the header is known to fit. Must not go before the
/// links are closed, or deliver() has returned.
class Parcel {
 public:
  Parcel(Links& links, const Operation& operation, std::uint32_t number);

  /// Blocks until the tensor is sent or here. Throws PeerLost, and Disagreement if what came is not
  /// what was expected.
  void deliver(const Operation& operation);

 private:
  void post_send(const Operation& operation, std::uint32_t number);
  void take(const Operation& operation);

  Memory letter_;
  Traffic traffic_;
  Ticket ticket_;  ///< receive: of the letter.
};

}  // namespace muster::gloo
