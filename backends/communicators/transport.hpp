#pragma once

#include <muster/operation.hpp>

#include "communicators/header.hpp"

#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace muster {

/// A peer cannot be reached any more.
class PeerLost : public std::runtime_error {
 public:
  PeerLost(int peer, const std::string& why) : std::runtime_error(why), peer_(peer) {}
  int peer() const noexcept { return peer_; }

 private:
  int peer_;
};

/// The ranks asked for different operations at the same place.
class Disagreement : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A rank's last words.
enum class LastWord : std::uint32_t { none, leaving, failed };

/// What is known of a peer.
struct News {
  bool lost = false;               ///< It is gone.
  LastWord word = LastWord::none;  ///< What it said before.
  std::string text;                ///< failed: why.
  bool silent() const noexcept { return !lost && word == LastWord::none; }
};

/// How the ranks of a group move data. A Group uses it.
class Transport {
 public:
  virtual ~Transport() = default;
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;

  /// Executes a collective, the `ordinal`-th of the group, from 1. Blocks without a deadline, until
  /// close() is called. One at a time. Throws PeerLost and Disagreement.
  virtual void collective(const Operation& operation, std::uint64_t ordinal) = 0;
  /// What can be done for the next collective after the last one has ended. Does not block.
  virtual void prepare() {}
  /// Begins a send or receive; the function that is returned ends it, and blocks. Throws PeerLost,
  /// the function Disagreement too. Of one caller at a time; the functions run beside each other.
  virtual std::function<void()> parcel(const Operation& operation) = 0;

  /// Whether data that this rank has sent is there for its peers after it has gone.
  virtual bool data_stays() const noexcept { return false; }

  // Any thread may call these.

  /// Tells all peers. Once; later calls do nothing. Takes a moment at most.
  virtual void say(LastWord word, std::string_view text) noexcept = 0;
  virtual News news(int peer) = 0;
  /// Makes whoever waits, here and at peers, throw PeerLost.
  virtual void close() noexcept = 0;
  /// The newest header that a peer showed; sequence 0 if none.
  virtual Header newest(int peer) const = 0;
  /// Whether a peer has come to collective `ordinal`.
  virtual bool arrived(int peer, std::uint64_t ordinal) const = 0;

 protected:
  Transport() = default;
};

}  // namespace muster
