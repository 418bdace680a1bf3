#include <muster/device.hpp>
#include <muster/error.hpp>

#include "communicators/kinds.hpp"
#include "communicators/note.hpp"
#include "communicators/text.hpp"

#include <mutex>
#include <optional>
#include <string>

namespace muster {
namespace {

/// A group of one: each operation is a copy, done when it returns.
class Self final : public Communicator {
 public:
  explicit Self(const Endpoint& endpoint)
      : Communicator(0, 1, endpoint.device, endpoint.timeout),
        kernels_(device_kind(endpoint.device).kernels()) {}

  std::string_view name() const noexcept override { return "self"; }
  Capabilities capabilities() const noexcept override { return {.ordered_sums = true}; }

  std::unique_ptr<Communicator> split(int color, int) override {
    Endpoint endpoint;
    endpoint.device = device();
    endpoint.timeout = timeout();
    return color < 0 ? nullptr : std::make_unique<Self>(endpoint);
  }

  void abort(std::string_view reason) noexcept override {
    const std::lock_guard lock(mutex_);
    if (!aborted_) {
      aborted_ = std::string(reason);
    }
  }

 protected:
  std::shared_ptr<PendingOperation> start(Operation operation) override {
    {
      const std::lock_guard lock(mutex_);
      if (aborted_) {
        throw CommunicationError(title(operation) +
                                 " on rank 0: the group was aborted: " + *aborted_);
      }
    }
    note(operation, CollectiveState::running);
    run(operation);
    note(operation, CollectiveState::done);
    return nullptr;
  }

 private:
  void run(const Operation& operation) const {
    switch (operation.kind) {
      case Operation::Kind::reduce_scatter:
        if (operation.accumulate) {
          kernels_.sum_into(operation.output, operation.input);
          return;
        }
        [[fallthrough]];
      case Operation::Kind::all_reduce:
      case Operation::Kind::all_gather:
      case Operation::Kind::all_to_all:
        kernels_.cast(operation.output, operation.input);
        return;
      case Operation::Kind::broadcast:
      case Operation::Kind::barrier:
      case Operation::Kind::send:  // No peer passes the checks of a group of one.
      case Operation::Kind::receive:
        return;
    }
  }

  const Kernels& kernels_;
  std::mutex mutex_;
  std::optional<std::string> aborted_;
};

std::string unavailable(const Endpoint& endpoint) {
  return endpoint.size == 1 ? ""
                            : "serves one rank, this group has " + std::to_string(endpoint.size);
}

std::unique_ptr<Communicator> connect_self(const Endpoint& endpoint) {
  return std::make_unique<Self>(endpoint);
}

}  // namespace

constinit const CommunicatorKind self_communicator{"self", 100, true, unavailable, connect_self};

}  // namespace muster
