#include <muster/device.hpp>

#include "communicators/aborted.hpp"
#include "communicators/kinds.hpp"
#include "communicators/mean.hpp"
#include "communicators/note.hpp"

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

  void abort(std::string_view reason) noexcept override { aborted_.set(reason); }

 protected:
  std::shared_ptr<PendingOperation> start(Operation operation) override {
    aborted_.refuse(operation, 0);
    note(operation, CollectiveState::running);
    run(operation);
    note(operation, CollectiveState::done);
    return nullptr;
  }

 private:
  void run(const Operation& operation) const {
    switch (operation.kind) {
      case Operation::Kind::reduce_scatter:
        return operation.accumulate ? kernels_.sum_into(operation.output, operation.input)
                                    : kernels_.cast(operation.output, operation.input);
      case Operation::Kind::all_reduce:
        kernels_.cast(operation.output, operation.input);
        divide(operation);
        return;
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

  void divide(const Operation& operation) const {
    const double factor = mean_factor(operation.count);
    if (operation.divided > 0 && factor != 1) {
      kernels_.scale(operation.output.view({-1}).narrow(0, 0, operation.divided), factor);
    }
  }

  const Kernels& kernels_;
  Aborted aborted_;
};

std::string self_unavailable(const Endpoint& endpoint) {
  return endpoint.size == 1 ? ""
                            : "serves one rank, this group has " + std::to_string(endpoint.size);
}

std::unique_ptr<Communicator> connect_self(const Endpoint& endpoint) {
  return std::make_unique<Self>(endpoint);
}

}  // namespace

constinit const CommunicatorKind self_communicator{"self", true, self_unavailable, connect_self};

}  // namespace muster
