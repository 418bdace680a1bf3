#include "input.hpp"

#include <muster/error.hpp>

#include "supervise/terminal.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

namespace muster::launcher {
namespace {

bool ours_to_read() { return ::isatty(STDIN_FILENO) != 1 || may_read_terminal(STDIN_FILENO); }

}  // namespace

Input::Input(std::size_t ranks, const JobOptions& options)
    : nothing_(::open("/dev/null", O_RDONLY | O_CLOEXEC)) {
  if (!nothing_) throw Error(std::string("cannot open /dev/null: ") + std::strerror(errno));
  const bool ours = ours_to_read();
  for (std::size_t i = 0; i < ranks; ++i) {
    if (!ours || !options.reading.contains(static_cast<int>(i))) {
      ends_.push_back(nothing_.get());
    } else if (!options.copy_input) {
      ends_.push_back(STDIN_FILENO);
    } else {
      int pipe[2];
      if (::pipe2(pipe, O_CLOEXEC) != 0)
        throw Error(std::string("cannot open a pipe: ") + std::strerror(errno));
      theirs_.emplace_back(pipe[0]);
      readers_.push_back({.pipe = UniqueFd(pipe[1]), .watch = nullptr});
      ends_.push_back(pipe[0]);
    }
  }
}

void Input::close_theirs() {
  theirs_.clear();
  nothing_.reset();
}

void Input::start(EventLoop& loop) {
  if (readers_.empty()) return;
  loop_ = &loop;
  for (Reader& reader : readers_) {
    reader.watch = loop.watch(reader.pipe.get(), EventLoop::Direction::writable,
                              [this, &reader] { write_to(reader); });
    reader.watch->pause();
  }
  source_ =
      loop.watch_shared(STDIN_FILENO, EventLoop::Direction::readable, [this] { read_more(); });
  always_ready_ = !source_;
  if (always_ready_) read_more();
}

void Input::read_more() {
  bytes_.resize(std::size_t{64} * 1024);
  const ssize_t size = ::read(STDIN_FILENO, bytes_.data(), bytes_.size());
  if (size < 0 && (errno == EAGAIN || errno == EINTR)) return;
  bytes_.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
  if (size <= 0) {
    source_.reset();
    for (Reader& reader : readers_) {
      reader.watch.reset();
      reader.pipe.reset();
    }
    return;
  }
  if (source_) source_->pause();
  for (Reader& reader : readers_) {
    reader.written = 0;
    if (reader.watch) reader.watch->resume();
  }
}

void Input::write_to(Reader& reader) {
  const ssize_t size =
      ::write(reader.pipe.get(), bytes_.data() + reader.written, bytes_.size() - reader.written);
  if (size >= 0) {
    reader.written += static_cast<std::size_t>(size);
  } else if (errno != EAGAIN && errno != EINTR) {
    reader.watch.reset();  // The rank is gone, or reads no more.
    reader.pipe.reset();
  }
  if (reader.pipe && reader.written < bytes_.size()) return;
  if (reader.watch) reader.watch->pause();
  after_writing();
}

void Input::after_writing() {
  const bool busy = std::ranges::any_of(readers_, [this](const Reader& reader) {
    return reader.pipe && reader.written < bytes_.size();
  });
  const bool anybody = std::ranges::any_of(readers_, [](const Reader& r) { return bool(r.pipe); });
  if (busy) return;
  if (!anybody) {
    source_.reset();
  } else if (always_ready_) {
    read_more();
  } else if (source_) {
    source_->resume();
  }
}

}  // namespace muster::launcher
