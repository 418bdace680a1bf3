#pragma once

#include <muster/data_loader_options.hpp>
#include <muster/loading.hpp>
#include <muster/loop_state.hpp>

#include "data/batch_feed.hpp"
#include "data/index_stream.hpp"

#include <memory>

namespace muster {

/// A loader's way to what rank 0 reads for all; shared by its copies.
class DispatchChannel {
 public:
  DispatchChannel(std::shared_ptr<DispatchHub> hub, int number)
      : hub_(std::move(hub)), number_(number) {}

  /// Begins an epoch. Throws ConfigError for a type of batch that cannot be sent.
  std::unique_ptr<BatchFeed> open(const Loading& loading, const DataLoaderOptions& options,
                                  const StreamStart& start);

 private:
  int next_tag() noexcept;

  std::shared_ptr<DispatchHub> hub_;
  int number_;
  int runs_ = 0;
};

/// All ranks call it. Throws ConfigError for a loader without an Accelerator.
std::shared_ptr<DispatchChannel> open_channel(const LoopState* loop);

}  // namespace muster
