#pragma once

#include <muster/communicators.hpp>

#include "communicators/gloo/farewell.hpp"
#include "communicators/gloo/letters.hpp"
#include "communicators/gloo/links.hpp"
#include "communicators/gloo/memory.hpp"
#include "communicators/gloo/traffic.hpp"
#include "communicators/transport.hpp"

#include <optional>

namespace muster::gloo {

/// Data as messages over Gloo's connections.
class GlooTransport final : public Transport {
 public:
  /// Collective. Throws CommunicationError, naming the ranks that did not come, and PeerLost.
  explicit GlooTransport(const Endpoint& endpoint);

  void collective(const Operation& operation, std::uint64_t ordinal) override;
  void prepare() override { letters_.prepare(); }
  std::function<void()> parcel(const Operation& operation) override;
  void say(LastWord word, std::string_view text) noexcept override { farewell_.say(word, text); }
  News news(int peer) override { return farewell_.news(peer); }
  void close() noexcept override { links_.close(); }
  Header newest(int peer) const override { return letters_.newest(peer); }
  bool arrived(int peer, std::uint64_t ordinal) const override {
    return letters_.arrived(peer, ordinal);
  }

 private:
  int rank_;
  int size_;
  bool strict_;  ///< Labels are compared too.
  Links links_;  // Before all that holds tickets, which must go first.
  Letters letters_;
  Farewell farewell_;
  Memory scratch_;
  std::optional<Traffic> traffic_;
  std::uint32_t parcels_ = 0;
};

}  // namespace muster::gloo
