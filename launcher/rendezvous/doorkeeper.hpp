#pragma once

#include "endpoint.hpp"
#include "rendezvous/messages.hpp"
#include "rendezvous/token.hpp"
#include "supervise/event_loop.hpp"
#include "unique_fd.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace muster::launcher {

/// Every inquiry is that long, and no answer is longer: nobody can use node 0 to flood others.
inline constexpr std::size_t inquiry_bytes = 1024;

/// Node 0 tells launchers that cannot join why. Once all hosts are there its TCP port is rank 0's,
/// so it is asked by datagrams, on the UDP port of the same number, for as long as the job lives.
class Doorkeeper {
 public:
  struct Words {
    Standing standing = Standing::waits;
    std::string text;  ///< Told to those who have the token, or to all where there is none.
  };
  /// What to say to a launcher that would be that node; -1: any.
  using Say = std::function<Words(std::int32_t node_rank)>;

  /// Answers nobody if another program has the UDP port.
  Doorkeeper(Endpoint endpoint, Token token);
  Doorkeeper(const Doorkeeper&) = delete;
  Doorkeeper& operator=(const Doorkeeper&) = delete;
  ~Doorkeeper() = default;

  /// Answers from this loop. `say` may not destroy this object.
  void open(EventLoop& loop, Say say);
  /// Until it is opened again, questions wait in the kernel.
  void close() noexcept { readable_.reset(); }

 private:
  void on_readable();
  std::string answer_to(std::string_view datagram) const;

  UniqueFd socket_;
  Token token_;
  Say say_;
  std::unique_ptr<EventLoop::Watch> readable_;
};

}  // namespace muster::launcher
