#include "communicators/grouped.hpp"

#include <ATen/ops/empty.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace muster {

GroupedCommunicator::GroupedCommunicator(std::string_view name, const Endpoint& endpoint,
                                         std::unique_ptr<Transport> transport)
    : Communicator(endpoint.rank, endpoint.size, endpoint.device, endpoint.timeout),
      name_(name),
      endpoint_(endpoint),
      group_(std::make_shared<Group>(endpoint.rank, endpoint.size, std::move(transport))) {}

GroupedCommunicator::~GroupedCommunicator() { group_->leave(); }

void GroupedCommunicator::abort(std::string_view reason) noexcept {
  group_->fail("rank " + std::to_string(rank()) + " aborted the group: " + std::string(reason));
}

std::shared_ptr<PendingOperation> GroupedCommunicator::start(Operation operation) {
  return group_->start(std::move(operation));
}

std::unique_ptr<Communicator> GroupedCommunicator::split(int color, int key) {
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
  return connect(name_, endpoint).communicator;
}

}  // namespace muster
