#pragma once

#include "communicators/shm/board.hpp"
#include "communicators/shm/mail.hpp"
#include "communicators/shm/rounds.hpp"
#include "communicators/shm/segment.hpp"
#include "communicators/transport.hpp"

#include <mutex>

namespace muster::shm {

/// Data through memory that the ranks of a host share.
class ShmTransport final : public Transport {
 public:
  /// All ranks of the group have mapped `segment`. strict: labels are compared too.
  ShmTransport(Segment segment, int rank, int size, bool strict);

  /// To be called once all ranks have theirs.
  void ready();

  void collective(const Operation& operation, std::uint64_t ordinal) override;
  std::function<void()> parcel(const Operation& operation) override;
  bool data_stays() const noexcept override { return true; }
  void say(LastWord word, std::string_view text) noexcept override;
  News news(int peer) override;
  void close() noexcept override { board_.close(); }
  Header newest(int peer) const override;
  bool arrived(int peer, std::uint64_t ordinal) const override;

 private:
  void require_sound(int peer) const;

  Segment segment_;
  Board board_;
  Rounds rounds_;
  Mail mail_;
  bool strict_;
  std::mutex saying_;
};

}  // namespace muster::shm
