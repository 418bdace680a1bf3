#include "rank_stream.hpp"

#include <cerrno>
#include <unistd.h>

namespace muster::launcher {

void RankStream::start(EventLoop& loop, EventLoop::Callback ready) {
  watch_ = loop.watch(channel_.ours.get(), EventLoop::Direction::readable, std::move(ready));
}

bool RankStream::blocked() const noexcept {
  return place_.outlet != nullptr &&
         (place_.outlet->sink.full() || place_.outlet->console.held_from(place_.owner));
}

void RankStream::resume() {
  if (!ended() && !blocked()) watch_->resume();
}

bool RankStream::read(std::int64_t now_ns) {
  static char buffer[64 * 1024];  // One thread reads, one stream at a time.
  const ssize_t bytes = ::read(channel_.ours.get(), buffer, sizeof buffer);
  if (bytes > 0) {
    take({buffer, static_cast<std::size_t>(bytes)}, now_ns);
  } else if (bytes == 0 || (errno != EAGAIN && errno != EINTR)) {
    end();  // A pseudo-terminal whose other side is closed says EIO.
  }
  return bytes > 0;
}

void RankStream::take(std::string_view bytes, std::int64_t now_ns) {
  if (!place_.log.write(bytes)) place_.log_failed(place_.log);
  tail_.feed(bytes, now_ns);
  if (place_.outlet == nullptr) return;
  if (place_.raw) {
    place_.outlet->sink.buffer() += bytes;
    place_.outlet->last_byte = bytes.back();
    return;
  }
  take_lines(bytes);
  const bool holds = place_.outlet->console.held_by(place_.owner);
  if (!lines_.has_partial() && !holds) {
    partial_due_ns_ = 0;
  } else if (partial_due_ns_ == 0 || holds) {
    partial_due_ns_ = now_ns + partial_ns;
  }
}

void RankStream::take_lines(std::string_view bytes) {
  const auto feed = [&](std::string_view part) {
    lines_.feed(part, [this](const Piece& piece) { show(piece); });
    bytes.remove_prefix(part.size());
  };
  if (!lines_.at_start()) feed(bytes.substr(0, bytes.find('\n') + 1));
  // Whole lines, which are nearly all that there is, need nothing of what the pieces need.
  const auto end = bytes.rfind('\n') + 1;
  if (end > 0 && lines_.at_start() && place_.outlet->console.free() &&
      bytes.substr(0, end).find('\r') == std::string_view::npos) {
    Console::show_lines(place_.prefix, bytes.substr(0, end), place_.outlet->sink.buffer());
    bytes.remove_prefix(end);
  }
  feed(bytes);
}

void RankStream::show(const Piece& piece) const {
  place_.outlet->console.show(place_.owner, place_.prefix, piece, place_.outlet->sink.buffer());
}

void RankStream::show_partial(std::int64_t now_ns) {
  if (partial_due_ns_ == 0 || partial_due_ns_ > now_ns) return;
  partial_due_ns_ = now_ns + partial_ns;
  // The rest may have been written, and it is we who are late.
  if (blocked() || read(now_ns)) return;
  partial_due_ns_ = 0;
  lines_.flush([this](const Piece& piece) { show(piece); });
  release_console();
}

void RankStream::release_console() const {
  if (place_.outlet->console.held_by(place_.owner)) place_.outlet->console.release();
}

void RankStream::end() {
  if (ended()) return;
  if (place_.outlet != nullptr) {
    lines_.flush([this](const Piece& piece) { show(piece); });
    release_console();
  }
  partial_due_ns_ = 0;
  watch_.reset();
  channel_.ours.reset();
}

}  // namespace muster::launcher
