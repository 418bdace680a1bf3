#include "faulty_communicator.hpp"

#include <csignal>
#include <cstdlib>
#include <map>
#include <stdexcept>
#include <string_view>
#include <thread>
#include <utility>

namespace muster::test {
namespace {

using Kind = Operation::Kind;
using std::chrono::milliseconds;

/// Flips the lowest bit of an element in the middle: of a float32, of its fraction.
void damage(const at::Tensor& tensor) {
  if (!tensor.defined() || tensor.nbytes() < 4) return;
  static_cast<unsigned char*>(tensor.mutable_data_ptr())[tensor.nbytes() / 8 * 4] ^= 1U;
}

/// Makes half of the gradients too large. One bit of them may be lost in rounding.
void enlarge(const at::Tensor& gradients) {
  gradients.flatten().narrow(0, 0, gradients.numel() / 2).mul_(1.5);
}

/// Which results are damaged, by the name of the fault.
bool is_damaged(const std::string& fault, const Operation& operation) {
  const std::string_view label = operation.label;
  if (fault == "group") return label == "what ranks are";
  if (fault == "training") return label.starts_with("gradients");
  if (label != "check") return false;
  if (fault == "mean") return operation.kind == Kind::all_reduce && operation.divided > 0;
  static const std::map<std::string, Kind> kinds{
      {"all_reduce", Kind::all_reduce}, {"reduce_scatter", Kind::reduce_scatter},
      {"all_gather", Kind::all_gather}, {"broadcast", Kind::broadcast},
      {"all_to_all", Kind::all_to_all}, {"send, receive", Kind::receive}};
  const auto found = kinds.find(fault);
  return found != kinds.end() && found->second == operation.kind;
}

class FaultyPending final : public PendingOperation {
 public:
  FaultyPending(Work work, at::Tensor damaged, bool patient)
      : work_(std::move(work)), damaged_(std::move(damaged)), patient_(patient) {}

  void wait(milliseconds deadline) override {
    work_.wait(patient_ ? std::chrono::minutes(1) : deadline);
    const auto tensor = std::exchange(damaged_, {});
    if (tensor.defined() && wanted_fault() == "training") {
      enlarge(tensor);
    } else {
      damage(tensor);
    }
  }
  bool done() const noexcept override { return work_.done(); }

 private:
  Work work_;
  at::Tensor damaged_;
  bool patient_;
};

class FaultyCommunicator final : public Communicator {
 public:
  FaultyCommunicator(std::unique_ptr<Communicator> inner, std::string fault)
      : Communicator(inner->rank(), inner->size(), inner->device(), inner->timeout()),
        inner_(std::move(inner)),
        fault_(std::move(fault)) {}

  std::string_view name() const noexcept override { return inner_->name(); }
  Capabilities capabilities() const noexcept override { return inner_->capabilities(); }
  std::unique_ptr<Communicator> split(int color, int key) override {
    auto part = inner_->split(color, fault_ == "split" ? rank() : key);
    if (!part) return nullptr;
    return std::make_unique<FaultyCommunicator>(std::move(part), fault_);
  }
  at::Tensor allocate(std::int64_t numel, at::ScalarType dtype) override {
    // Only what the check asks for: models need theirs.
    const bool wrong = fault_ == "allocate" && numel == 1001;
    return inner_->allocate(wrong ? numel + 1 : numel, dtype);
  }
  void abort(std::string_view reason) noexcept override {
    if (fault_ != "abort") inner_->abort(reason);
  }

 protected:
  std::shared_ptr<PendingOperation> start(Operation operation) override {
    end_here(operation);
    auto damaged = is_damaged(fault_, operation) ? operation.output : at::Tensor();
    return std::make_shared<FaultyPending>(forward(operation), std::move(damaged),
                                           fault_ == "deadlines");
  }

 private:
  /// The faults of which no rank can tell.
  void end_here(const Operation& operation) const {
    if (operation.label != "check") return;
    if (fault_ == "die" && operation.kind == Kind::broadcast) std::raise(SIGSEGV);
    if (fault_ == "hang" && operation.kind == Kind::all_gather) {
      std::this_thread::sleep_for(std::chrono::minutes(10));
    }
    if (fault_ == "throw" && operation.kind == Kind::all_to_all) {
      throw std::runtime_error("the test wants it");
    }
  }

  Work forward(const Operation& one) {
    switch (one.kind) {
      case Kind::all_reduce:
        return reduce(one);
      case Kind::reduce_scatter:
        return inner_->reduce_scatter(
            one.output, one.input,
            {.op = one.op, .accumulate = one.accumulate, .counts = one.input_counts}, one.label);
      case Kind::all_gather:
        return inner_->all_gather(one.output, one.input, one.output_counts, one.label);
      case Kind::broadcast:
        return inner_->broadcast(one.output, one.peer, one.label);
      case Kind::all_to_all:
        return inner_->all_to_all(one.output, one.input, one.output_counts, one.input_counts,
                                  one.label);
      case Kind::send:
        return inner_->send(one.input, one.peer, one.tag, one.label);
      case Kind::receive:
        return inner_->receive(one.output, one.peer, one.tag, one.label);
      case Kind::barrier:
        break;
    }
    return inner_->barrier(one.label);
  }

  Work reduce(const Operation& one) {
    if (one.divided > 0 || one.count != 0) {
      return inner_->all_reduce_mean(one.output, one.divided, one.count, one.label);
    }
    if (one.output.is_same(one.input)) return inner_->all_reduce(one.output, one.op, one.label);
    return inner_->all_reduce(one.output, one.input, one.op, one.label);
  }

  std::unique_ptr<Communicator> inner_;
  std::string fault_;
};

}  // namespace

const std::string& wanted_fault() {
  static const char* const given = std::getenv("BREAK_CHECK");
  static const std::string fault(given == nullptr ? "" : given);
  return fault;
}

std::unique_ptr<Communicator> faulty(std::unique_ptr<Communicator> inner) {
  const auto& fault = wanted_fault();
  // Those of every rank; the others are of the last one.
  const bool of_all = fault == "deadlines" || fault == "abort" || fault == "split";
  if (!of_all && inner->rank() + 1 != inner->size()) return inner;
  return std::make_unique<FaultyCommunicator>(std::move(inner), fault);
}

}  // namespace muster::test
