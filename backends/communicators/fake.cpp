#include <muster/device.hpp>
#include <muster/fake.hpp>

#include "communicators/aborted.hpp"
#include "communicators/kinds.hpp"
#include "communicators/mean.hpp"
#include "communicators/note.hpp"

#include <algorithm>

namespace muster {
namespace {

using Kind = Operation::Kind;

class Fake final : public FakeCommunicator {
 public:
  Fake(int rank, int size, at::Device device, std::chrono::milliseconds timeout)
      : FakeCommunicator(rank, size, device, timeout) {}

  std::string_view name() const noexcept override { return "fake"; }
  Capabilities capabilities() const noexcept override { return {}; }
  const std::vector<FakeRecord>& records() const noexcept override { return records_; }

  /// As if all ranks gave the same color and the same key.
  std::unique_ptr<Communicator> split(int color, int) override {
    return color < 0 ? nullptr : std::make_unique<Fake>(rank(), size(), device(), timeout());
  }

  std::unique_ptr<Communicator> subgroup(std::span<const int> ranks) override {
    const auto here = std::find(ranks.begin(), ranks.end(), rank());
    if (here == ranks.end()) {
      return Communicator::subgroup(ranks);
    }
    return std::make_unique<Fake>(static_cast<int>(here - ranks.begin()),
                                  static_cast<int>(ranks.size()), device(), timeout());
  }

  void abort(std::string_view reason) noexcept override { aborted_.set(reason); }

 protected:
  std::shared_ptr<PendingOperation> start(Operation operation) override {
    aborted_.refuse(operation, rank());
    const auto& tensor = operation.input.defined() ? operation.input : operation.output;
    records_.push_back({operation.kind, operation.sequence, operation.label, operation.bytes(),
                        tensor.defined() ? tensor.scalar_type() : at::ScalarType::Undefined,
                        operation.peer});
    note(operation, CollectiveState::running);
    run(operation);
    note(operation, CollectiveState::done);
    return nullptr;
  }

 private:
  void run(const Operation& operation) const {
    switch (operation.kind) {
      case Kind::all_reduce:
        return reduce(operation.output, operation.input, operation);
      case Kind::reduce_scatter:
        return reduce_scatter(operation);
      case Kind::all_gather:
        return all_gather(operation);
      case Kind::all_to_all:
        return all_to_all(operation);
      case Kind::receive:
        operation.output.zero_();
        return;
      case Kind::broadcast:
      case Kind::send:
      case Kind::barrier:
        return;
    }
  }

  static at::Tensor part(const at::Tensor& tensor, std::int64_t offset, std::int64_t count) {
    return tensor.view({-1}).narrow(0, offset, count);
  }

  /// Elements before part `index`, with equal parts if there are no counts.
  std::int64_t offset(const at::Tensor& tensor, const std::vector<std::int64_t>& counts,
                      int index) const {
    std::int64_t sum = 0;
    for (int i = 0; i < index; ++i) {
      sum += this->count(tensor, counts, i);
    }
    return sum;
  }

  std::int64_t count(const at::Tensor& tensor, const std::vector<std::int64_t>& counts,
                     int index) const {
    return counts.empty() ? tensor.numel() / size() : counts[static_cast<std::size_t>(index)];
  }

  /// All ranks hold `input`.
  void reduce(const at::Tensor& output, const at::Tensor& input, const Operation& operation) const {
    // LibTorch has no arithmetic for some integers and refuses factors that they cannot hold; in
    // int64 all wrap around to the same bits.
    const bool whole = c10::isIntegralType(input.scalar_type(), /*includeBool=*/false);
    auto result = input.to(whole ? at::kLong : output.scalar_type(), /*non_blocking=*/false,
                           /*copy=*/true);
    if (operation.op == ReduceOp::sum && input.scalar_type() != at::kBool) {
      result.mul_(size());
    } else if (operation.op == ReduceOp::product && input.scalar_type() != at::kBool) {
      result.pow_(size());
    }
    if (operation.divided > 0) {
      result.view({-1}).narrow(0, 0, operation.divided).mul_(mean_factor(size() * operation.count));
    }
    if (operation.accumulate) {
      result.add_(output.to(result.scalar_type()).view_as(result));
    }
    output.copy_(result.view_as(output));
  }

  void reduce_scatter(const Operation& operation) const {
    const auto& counts = operation.input_counts;
    const auto begin = offset(operation.input, counts, rank());
    reduce(operation.output, part(operation.input, begin, operation.output.numel()), operation);
  }

  void all_gather(const Operation& operation) const {
    const auto own = operation.input.view({-1}).clone();
    std::int64_t begin = 0;
    for (int i = 0; i < size(); ++i) {
      const auto count = this->count(operation.output, operation.output_counts, i);
      fill(part(operation.output, begin, count), own);
      begin += count;
    }
  }

  void all_to_all(const Operation& operation) const {
    const auto begin = offset(operation.input, operation.input_counts, rank());
    const auto own =
        part(operation.input, begin, count(operation.input, operation.input_counts, rank()));
    std::int64_t at = 0;
    for (int i = 0; i < size(); ++i) {
      const auto count = this->count(operation.output, operation.output_counts, i);
      fill(part(operation.output, at, count), own);
      at += count;
    }
  }

  /// As much as there is, then zeros.
  static void fill(const at::Tensor& output, const at::Tensor& source) {
    const auto common = std::min(output.numel(), source.numel());
    output.narrow(0, 0, common).copy_(source.narrow(0, 0, common));
    output.narrow(0, common, output.numel() - common).zero_();
  }

  std::vector<FakeRecord> records_;
  Aborted aborted_;
};

std::string fake_unavailable(const Endpoint&) { return ""; }

std::unique_ptr<Communicator> connect_fake(const Endpoint& endpoint) {
  return std::make_unique<Fake>(endpoint.rank, endpoint.size, endpoint.device, endpoint.timeout);
}

}  // namespace

std::unique_ptr<FakeCommunicator> make_fake(int rank, int size, at::Device device) {
  return std::make_unique<Fake>(rank, size, device, Endpoint{}.timeout);
}

constinit const CommunicatorKind fake_communicator{"fake", false, fake_unavailable, connect_fake};

}  // namespace muster
