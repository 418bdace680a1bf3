#include <muster/error.hpp>

#include "communicators/gloo/group.hpp"
#include "communicators/kinds.hpp"

#include <ATen/ops/empty.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace muster {
namespace {

class Gloo final : public Communicator {
 public:
  explicit Gloo(const Endpoint& endpoint)
      : Communicator(endpoint.rank, endpoint.size, endpoint.device, endpoint.timeout),
        endpoint_(endpoint),
        group_(std::make_shared<gloo::Group>(endpoint)) {}

  ~Gloo() override { group_->leave(); }
  Gloo(const Gloo&) = delete;
  Gloo& operator=(const Gloo&) = delete;

  std::string_view name() const noexcept override { return "gloo"; }
  Capabilities capabilities() const noexcept override {
    return {.ordered_sums = true, .asynchronous = true};
  }

  std::unique_ptr<Communicator> split(int color, int key) override;

  void abort(std::string_view reason) noexcept override {
    group_->fail("rank " + std::to_string(rank()) + " aborted the group: " + std::string(reason));
  }

 protected:
  std::shared_ptr<PendingOperation> start(Operation operation) override {
    return group_->start(std::move(operation));
  }

 private:
  Endpoint endpoint_;
  std::shared_ptr<gloo::Group> group_;
  int splits_ = 0;
};

std::unique_ptr<Communicator> Gloo::split(int color, int key) {
  auto mine = at::empty({2}, at::kLong);
  auto all = at::empty({size(), 2}, at::kLong);
  mine.mutable_data_ptr<std::int64_t>()[0] = color;
  mine.mutable_data_ptr<std::int64_t>()[1] = key;
  all_gather(all, mine, "split " + std::to_string(++splits_)).wait();
  if (color < 0) {
    return nullptr;
  }
  std::vector<std::pair<std::int64_t, int>> members;
  const auto* const pairs = all.const_data_ptr<std::int64_t>();
  for (int rank = 0; rank < size(); ++rank) {
    const auto* const pair = pairs + std::ptrdiff_t{2} * rank;
    if (pair[0] == color) {
      members.emplace_back(pair[1], rank);
    }
  }
  std::sort(members.begin(), members.end());
  Endpoint endpoint = endpoint_;
  endpoint.size = static_cast<int>(members.size());
  endpoint.rank = static_cast<int>(
      std::find(members.begin(), members.end(), std::pair<std::int64_t, int>(key, rank())) -
      members.begin());
  endpoint.group += "/" + std::to_string(splits_) + "." + std::to_string(color);
  return connect("gloo", endpoint).communicator;
}

std::string gloo_unavailable(const Endpoint& endpoint) {
  if (endpoint.device.type() != at::kCPU) {
    return "serves the CPU, this group is on " + endpoint.device.str();
  }
  return endpoint.size > 1 && !endpoint.rendezvous.state() ? "needs an open rendezvous" : "";
}

std::unique_ptr<Communicator> connect_gloo(const Endpoint& endpoint) {
  try {
    return std::make_unique<Gloo>(endpoint);
  } catch (const gloo::LinkLost& error) {
    throw CommunicationError("rank " + std::to_string(endpoint.rank) + " lost rank " +
                             std::to_string(error.peer()) + " while it joined group '" +
                             endpoint.group + "': " + error.what());
  }
}

}  // namespace

constinit const CommunicatorKind gloo_communicator{"gloo", true, gloo_unavailable, connect_gloo};

}  // namespace muster
