#pragma once

#include <muster/communicators.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

namespace muster::test {

/// A port of the loopback address that the kernel chose, bound but not listening, as a launcher
/// holds one.
class HeldPort {
 public:
  HeldPort();
  ~HeldPort();
  HeldPort(const HeldPort&) = delete;
  HeldPort& operator=(const HeldPort&) = delete;
  std::uint16_t number() const noexcept { return number_; }
  int descriptor() const noexcept { return fd_; }

 private:
  int fd_;
  std::uint16_t number_;
};

/// What went wrong in a rank's thread, where Catch2's assertions must not be used.
class Failed : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Throws Failed(what) unless it holds.
void expect(bool holds, const std::string& what);

/// The world of rank `rank` of `size` ranks that meet at `port`.
World world_at(const HeldPort& port, int rank, int size, std::chrono::milliseconds timeout);

/// Runs `body` in one thread a rank, each with an endpoint over one rendezvous. When all have
/// ended, throws Failed naming the ranks that threw, with what they threw.
void on_ranks(int size, std::chrono::milliseconds timeout,
              const std::function<void(const Endpoint&)>& body);

/// The same with a communicator of that kind in each.
void with_group(std::string_view kind, int size, const std::function<void(Communicator&)>& body);

/// The message of the CommunicationError that `body` throws; throws Failed if it throws none.
std::string error_of(const std::function<void()>& body);

/// Throws Failed unless `text` has `part`.
void expect_contains(const std::string& text, const std::string& part);

}  // namespace muster::test
