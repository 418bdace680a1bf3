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
  // What encode() would make, but the signal may have come in the middle of an allocation.
  std::array<char, 128> bytes{};
  char* end = bytes.data();
  const auto add = [&](std::string_view text) {
    const auto room = static_cast<std::size_t>(bytes.data() + bytes.size() - end);
    end = std::copy_n(text.data(), std::min(text.size(), room), end);
  };
  add("DEATH 0 ");
  end = std::to_chars(end, bytes.data() + bytes.size(), monotonic_ns()).ptr;
  add(" signal ");
  add(name);
  ::send(socket_, bytes.data(), static_cast<std::size_t>(end - bytes.data()),
         MSG_DONTWAIT | MSG_NOSIGNAL);
}

void Control::note(std::uint64_t sequence, std::string_view operation, std::string_view label,
                   std::uint64_t bytes, CollectiveState state) noexcept {
  if (!slot_ || !is_ours()) return;
  const std::lock_guard lock(writing_);
  write_slot(*slot_, {sequence, bytes, state, operation, label});
}

}  // namespace muster
