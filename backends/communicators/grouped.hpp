#pragma once

#include <muster/communicators.hpp>

#include "communicators/group.hpp"

#include <memory>
#include <string>
#include <string_view>

namespace muster {

/// A communicator whose operations a Group executes.
class GroupedCommunicator : public Communicator {
 public:
  /// name: of its kind, by which subgroups are connected too.
  GroupedCommunicator(std::string_view name, const Endpoint& endpoint,
                      std::unique_ptr<Transport> transport);
  ~GroupedCommunicator() override;
  GroupedCommunicator(const GroupedCommunicator&) = delete;
  GroupedCommunicator& operator=(const GroupedCommunicator&) = delete;

  std::string_view name() const noexcept override { return name_; }
  Capabilities capabilities() const noexcept override {
    return {.ordered_sums = true, .asynchronous = true};
  }
  std::unique_ptr<Communicator> split(int color, int key) override;
  void abort(std::string_view reason) noexcept override;

 protected:
  std::shared_ptr<PendingOperation> start(Operation operation) override;

 private:
  std::string_view name_;
  Endpoint endpoint_;
  std::shared_ptr<Group> group_;
  int splits_ = 0;
};

}  // namespace muster
