#include "event_loop.hpp"

#include <muster/error.hpp>

#include "unique_fd.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>

#include <cerrno>
#include <cstring>
#include <sys/epoll.h>

namespace muster::launcher {

namespace asio = boost::asio;

struct EventLoop::Implementation {
  asio::io_context context{1};
};

struct EventLoop::Watch::State : std::enable_shared_from_this<State> {
  State(asio::io_context& context, Direction wanted, Callback on_ready)
      : descriptor(context),
        event(wanted == Direction::readable ? asio::posix::descriptor_base::wait_read
                                            : asio::posix::descriptor_base::wait_write),
        callback(std::move(on_ready)) {}

  void arm() {
    if (closed || paused || waiting) return;
    waiting = true;
    descriptor.async_wait(event, [self = shared_from_this()](boost::system::error_code error) {
      self->waiting = false;
      if (error || self->closed || self->paused) return;
      self->callback();
      self->arm();
    });
  }

  asio::posix::stream_descriptor descriptor;
  asio::posix::descriptor_base::wait_type event;
  Callback callback;
  UniqueFd proxy;  ///< watch_shared: an epoll instance that holds the descriptor.
  bool closed = false, paused = false, waiting = false;
};

EventLoop::Watch::~Watch() {
  state_->closed = true;
  state_->descriptor.release();
}

void EventLoop::Watch::pause() noexcept { state_->paused = true; }

void EventLoop::Watch::resume() {
  state_->paused = false;
  state_->arm();
}

struct EventLoop::Timer::State : std::enable_shared_from_this<State> {
  explicit State(asio::io_context& context) : timer(context) {}

  asio::steady_timer timer;
  Callback callback;
  std::uint64_t round = 0;
  bool pending = false;
};

EventLoop::Timer::~Timer() { cancel(); }

void EventLoop::Timer::set(std::chrono::nanoseconds from_now, Callback callback) {
  state_->callback = std::move(callback);
  state_->pending = true;
  const auto round = ++state_->round;
  state_->timer.expires_after(from_now);
  state_->timer.async_wait([state = state_, round](boost::system::error_code error) {
    if (error || round != state->round || !state->pending) return;
    state->pending = false;
    const Callback call = std::move(state->callback);
    call();
  });
}

void EventLoop::Timer::cancel() {
  state_->pending = false;
  state_->timer.cancel();
}

bool EventLoop::Timer::pending() const noexcept { return state_->pending; }

EventLoop::EventLoop() = default;
EventLoop::~EventLoop() = default;

EventLoop::Implementation& EventLoop::implementation() {
  if (!implementation_) implementation_ = std::make_unique<Implementation>();
  return *implementation_;
}

std::unique_ptr<EventLoop::Watch> EventLoop::watch(int fd, Direction direction, Callback callback) {
  auto state =
      std::make_shared<Watch::State>(implementation().context, direction, std::move(callback));
  boost::system::error_code error;
  state->descriptor.assign(fd, error);
  if (error) throw Error("cannot watch a descriptor: " + error.message());
  state->arm();
  return std::make_unique<Watch>(std::move(state));
}

std::unique_ptr<EventLoop::Watch> EventLoop::watch_shared(int fd, Direction direction,
                                                          Callback callback) {
  UniqueFd proxy(::epoll_create1(EPOLL_CLOEXEC));
  epoll_event event{};
  event.events = direction == Direction::readable ? EPOLLIN : EPOLLOUT;
  const bool added = proxy && ::epoll_ctl(proxy.get(), EPOLL_CTL_ADD, fd, &event) == 0;
  if (proxy && !added && errno == EPERM) return nullptr;
  if (!added) throw Error(std::string("cannot watch a descriptor: ") + std::strerror(errno));
  auto state = std::make_shared<Watch::State>(implementation().context, Direction::readable,
                                              std::move(callback));
  state->descriptor.assign(proxy.get());
  state->proxy = std::move(proxy);
  state->arm();
  return std::make_unique<Watch>(std::move(state));
}

std::unique_ptr<EventLoop::Timer> EventLoop::timer() {
  return std::make_unique<Timer>(std::make_shared<Timer::State>(implementation().context));
}

void EventLoop::run() {
  auto work = asio::make_work_guard(implementation().context);
  implementation().context.run();
}

void EventLoop::stop() { implementation().context.stop(); }

}  // namespace muster::launcher
