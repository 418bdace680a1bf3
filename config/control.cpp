#include <muster/contract.hpp>
#include <muster/control.hpp>

#include "control_slot.hpp"
#include "text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <ctime>
#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

namespace muster {
namespace {

/// -1 if the variable is not set or no number.
int number_in(std::string_view variable) noexcept {
  const char* const text = std::getenv(variable.data());
  return text && is_number(text) ? static_cast<int>(whole_number(text).value_or(-1)) : -1;
}

// A child of a rank inherits the variables but not the descriptors; their numbers may by then be
// something of its own, so each is asked what it is.

int find_socket() noexcept {
  const int fd = number_in(contract::control_fd);
  int type = 0, domain = 0;
  socklen_t size = sizeof type;
  if (fd < 0 || getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) != 0) return -1;
  size = sizeof domain;
  if (getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &size) != 0) return -1;
  if (type != SOCK_SEQPACKET || domain != AF_UNIX) return -1;
  fcntl(fd, F_SETFD, FD_CLOEXEC);
  return fd;
}

ControlSlot* find_slot() noexcept {
  const int fd = number_in(contract::control_memory_fd);
  const int given = number_in(contract::control_slot);
  const int index = given >= 0 ? given : number_in("LOCAL_RANK");
  if (fd < 0 || index < 0 || fcntl(fd, F_GET_SEALS) < 0) return nullptr;  // Only memfds have seals.
  const std::size_t bytes = (static_cast<std::size_t>(index) + 1) * sizeof(ControlSlot);
  struct stat status {};
  if (fstat(fd, &status) != 0 || status.st_size < static_cast<off_t>(bytes)) return nullptr;
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (memory == MAP_FAILED) return nullptr;
  fcntl(fd, F_SETFD, FD_CLOEXEC);
  return static_cast<ControlSlot*>(memory) + index;
}

std::int64_t monotonic_ns() noexcept {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

/// A message made without an allocation: a signal may have come in the middle of one.
class HandlerMessage {
 public:
  explicit HandlerMessage(int socket) noexcept : socket_(socket) {}

  void add(std::string_view text) noexcept {
    end_ = std::copy_n(text.data(), std::min(text.size(), room()), end_);
  }
  void add_number(std::uint64_t number, int base) noexcept {
    end_ = std::to_chars(end_, bytes_.data() + bytes_.size(), number, base).ptr;
  }
  std::size_t room() const noexcept {
    return static_cast<std::size_t>(bytes_.data() + bytes_.size() - end_);
  }
  void send() const noexcept {
    ::send(socket_, bytes_.data(), static_cast<std::size_t>(end_ - bytes_.data()),
           MSG_DONTWAIT | MSG_NOSIGNAL);
  }

 private:
  int socket_;
  std::array<char, 1024> bytes_{};
  char* end_ = bytes_.data();
};

}  // namespace

Control& Control::instance() {
  static auto* const control = new Control;
  return *control;
}

Control::Control() noexcept
    : socket_(find_socket()), slot_(find_slot()), process_(static_cast<int>(getpid())) {}

bool Control::is_ours() const noexcept { return process_ == static_cast<int>(getpid()); }

bool Control::connected() const noexcept { return socket_ >= 0 && is_ours(); }

void Control::send(const ControlMessage& message) noexcept {
  if (!connected()) return;
  try {
    const std::string bytes = encode(message);
    const int flags = MSG_DONTWAIT | MSG_NOSIGNAL;
    if (::send(socket_, bytes.data(), bytes.size(), flags) >= 0) return;
    if (message.kind != ControlMessage::Kind::death) return;
    constexpr int patience_ms = 200;
    pollfd ready{socket_, POLLOUT, 0};
    if (poll(&ready, 1, patience_ms) > 0) ::send(socket_, bytes.data(), bytes.size(), flags);
  } catch (...) {
    return;  // Out of memory: the launcher sees how the process ends.
  }
}

void Control::ready() noexcept { send({ControlMessage::Kind::ready, 0, monotonic_ns(), {}, {}}); }

void Control::step(std::uint64_t number) noexcept {
  active();
  if (slot_ && is_ours()) slot_->step.store(number, std::memory_order_relaxed);
  send({ControlMessage::Kind::step, number, monotonic_ns(), {}, {}});
}

void Control::checkpoint(std::uint64_t number) noexcept {
  send({ControlMessage::Kind::checkpoint, number, monotonic_ns(), {}, {}});
}

void Control::death(std::string_view reason, std::string_view text) noexcept {
  if (!connected() || dead_.exchange(true)) return;
  try {
    send({ControlMessage::Kind::death, 0, monotonic_ns(), std::string(reason), std::string(text)});
  } catch (...) {
    send({ControlMessage::Kind::death, 0, monotonic_ns(), {}, {}});
  }
}

void Control::death_by_signal(std::string_view name) noexcept {
  if (!connected() || dead_.exchange(true)) return;
  HandlerMessage message(socket_);
  message.add("DEATH 0 ");
  message.add_number(static_cast<std::uint64_t>(monotonic_ns()), 10);
  message.add(" signal ");
  message.add(name.substr(0, 64));
  message.send();
}

// Not const, as the other members that speak to the launcher.
// NOLINTNEXTLINE(readability-make-member-function-const)
void Control::stack(void* const* addresses, int count) noexcept {
  if (!connected()) return;
  constexpr std::size_t longest_address = 17;  // With its comma.
  HandlerMessage message(socket_);
  message.add("STACK 0 ");
  message.add_number(static_cast<std::uint64_t>(monotonic_ns()), 10);
  message.add("  ");
  for (int i = 0; i < count && message.room() > longest_address; ++i) {
    if (i > 0) message.add(",");
    message.add_number(reinterpret_cast<std::uintptr_t>(addresses[i]), 16);
  }
  message.send();
}

void Control::note(const CollectiveNote& collective) noexcept {
  if (!slot_ || !is_ours()) return;
  const std::int64_t now = monotonic_ns();
  slot_->active_ns.store(now, std::memory_order_relaxed);
  const std::lock_guard lock(writing_);
  write_slot(*slot_, collective, now);
}

void Control::waiting(bool begins) noexcept {
  if (!slot_ || !is_ours()) return;
  if (begins) {
    slot_->waiting.fetch_add(1, std::memory_order_relaxed);
  } else {
    slot_->waiting.fetch_sub(1, std::memory_order_relaxed);
  }
}

void Control::active() noexcept {
  if (slot_ && is_ours()) slot_->active_ns.store(monotonic_ns(), std::memory_order_relaxed);
}

void Control::begin_busy(std::string_view what) noexcept {
  if (!slot_ || !is_ours()) return;
  const std::lock_guard lock(writing_);
  if (nested_ < most_nested) {
    auto& kept = busy_[nested_];
    const auto length = std::min(what.size(), kept.size() - 1);
    *std::copy_n(what.data(), length, kept.data()) = '\0';
  }
  ++nested_;
  write_busy(*slot_, what.empty() ? "busy" : what, monotonic_ns());
}

void Control::end_busy() noexcept {
  if (!slot_ || !is_ours()) return;
  active();  // What came before is no standstill.
  const std::lock_guard lock(writing_);
  if (nested_ == 0) return;
  --nested_;
  const char* const outer = nested_ == 0 ? "" : busy_[std::min(nested_, most_nested) - 1].data();
  write_busy(*slot_, nested_ != 0 && *outer == '\0' ? "busy" : outer, monotonic_ns());
}

bool Control::stuck(std::string_view reason, std::uint64_t sequence,
                    std::string_view text) noexcept {
  if (!connected() || stuck_is_expected_) return false;
  const std::lock_guard lock(asking_);
  waiting(true);
  const bool seen = ask(reason, sequence, text);
  waiting(false);
  return seen;
}

bool Control::ask(std::string_view reason, std::uint64_t sequence, std::string_view text) noexcept {
  try {
    send({ControlMessage::Kind::stuck, sequence, monotonic_ns(), std::string(reason),
          std::string(text)});
  } catch (...) {
    return false;
  }
  const std::int64_t end =
      monotonic_ns() + std::chrono::nanoseconds(Control::stuck_patience).count();
  for (std::int64_t now = monotonic_ns(); now < end; now = monotonic_ns()) {
    pollfd readable{socket_, POLLIN, 0};
    if (poll(&readable, 1, static_cast<int>((end - now) / 1'000'000) + 1) <= 0) continue;
    std::array<char, 64> bytes{};
    const auto size = recv(socket_, bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (size == 0) return false;  // The launcher is gone.
    if (size > 0 &&
        std::string_view(bytes.data(), static_cast<std::size_t>(size)) == control_answer)
      return true;
  }
  return false;
}

}  // namespace muster
