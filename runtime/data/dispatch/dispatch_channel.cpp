#include "data/dispatch/dispatch_channel.hpp"

#include <muster/error.hpp>

#include "data/dispatch/client_run.hpp"
#include "data/dispatch/dispatch_hub.hpp"
#include "data/dispatch/server_run.hpp"
#include "data/local_feed.hpp"

#include <algorithm>
#include <utility>

namespace muster {
namespace {

/// A run, for as long as the program's loop is in it.
template <class Run>
class RunFeed : public BatchFeed {
 public:
  RunFeed(std::shared_ptr<DispatchHub> hub, std::shared_ptr<Run> run)
      : hub_(std::move(hub)), run_(std::move(run)) {}
  ~RunFeed() override { run_->leave(); }
  RunFeed(const RunFeed&) = delete;
  RunFeed& operator=(const RunFeed&) = delete;

  std::optional<LoadedBatch> next() override { return run_->next(); }

 private:
  std::shared_ptr<DispatchHub> hub_;  ///< Whose group the run uses.
  std::shared_ptr<Run> run_;
};

}  // namespace

/// Runs of one loader may overlap, as when it is iterated inside its own loop.
int DispatchChannel::next_tag() noexcept {
  constexpr int runs = 1 << 10, channels = 1 << 16;
  return (number_ % channels) * runs + runs_++ % runs;
}

std::unique_ptr<BatchFeed> DispatchChannel::open(const Loading& loading,
                                                 const DataLoaderOptions& options,
                                                 const StreamStart& start) {
  if (!loading.visit) {
    throw ConfigError("data loader: dispatch cannot send a batch of type " + loading.batch_type +
                      "; it can send tensors, numbers and strings, and structs of data and target, "
                      "tuples, vectors, optionals and string maps of these");
  }
  const auto terms = EpochTerms::of(options, start);
  auto& group = hub_->group();
  if (group.rank() == 0) {
    auto feed = open_feed(loading, options, {0, group.size()}, start);
    auto run = std::make_shared<ServerRun>(group, next_tag(), std::move(feed), loading, terms);
    hub_->keep(run);
    return std::make_unique<RunFeed<ServerRun>>(hub_, std::move(run));
  }
  const int ahead = options.prefetch > 0 ? options.prefetch : 2 * std::max(1, options.num_workers);
  auto run = std::make_shared<ClientRun>(Post(group, 0, next_tag()), loading, terms, ahead,
                                         group.timeout());
  hub_->keep(run);
  return std::make_unique<RunFeed<ClientRun>>(hub_, std::move(run));
}

std::shared_ptr<DispatchChannel> open_channel(const LoopState* loop) {
  if (loop == nullptr || !loop->dispatch_hub) {
    throw ConfigError(
        "data loader: dispatch over several ranks needs an Accelerator: "
        "accelerator.prepare(loader)");
  }
  auto hub = loop->dispatch_hub();
  const int number = hub->next_channel();
  return std::make_shared<DispatchChannel>(std::move(hub), number);
}

}  // namespace muster
