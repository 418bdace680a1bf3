#pragma once

#include <muster/communicator.hpp>

#include <atomic>
#include <memory>
#include <stdexcept>
#include <utility>

namespace muster::test {

/// A group that counts the bytes which this rank sends to one other.
class CountingCommunicator final : public Communicator {
 public:
  explicit CountingCommunicator(std::unique_ptr<Communicator> inner)
      : Communicator(inner->rank(), inner->size(), inner->device(), inner->timeout()),
        inner_(std::move(inner)) {}

  std::shared_ptr<const std::atomic<std::uint64_t>> sent() const { return sent_; }

  std::string_view name() const noexcept override { return inner_->name(); }
  Capabilities capabilities() const noexcept override { return inner_->capabilities(); }
  std::unique_ptr<Communicator> split(int color, int key) override {
    return inner_->split(color, key);
  }
  void abort(std::string_view reason) noexcept override { inner_->abort(reason); }

 protected:
  std::shared_ptr<PendingOperation> start(Operation operation) override {
    class Passed final : public PendingOperation {
     public:
      explicit Passed(Work work) : work_(std::move(work)) {}
      void wait(std::chrono::milliseconds deadline) override { work_.wait(deadline); }
      bool done() const noexcept override { return work_.done(); }

     private:
      Work work_;
    };
    const auto& one = operation;
    if (one.kind == Operation::Kind::send) {
      *sent_ += one.bytes();
      return std::make_shared<Passed>(inner_->send(one.input, one.peer, one.tag, one.label));
    }
    if (one.kind == Operation::Kind::receive) {
      return std::make_shared<Passed>(inner_->receive(one.output, one.peer, one.tag, one.label));
    }
    throw std::logic_error("only sends and receives are expected here");
  }

 private:
  std::unique_ptr<Communicator> inner_;
  std::shared_ptr<std::atomic<std::uint64_t>> sent_ =
      std::make_shared<std::atomic<std::uint64_t>>(0);
};

}  // namespace muster::test
