#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace muster {

class DispatchHub;

/// What the parts of a training loop tell each other: the loaders that are being iterated (an
/// evaluation may stand inside a training epoch) and whether this micro-step synchronises. One a
/// process's Accelerator, shared by what it prepared; used by the thread that runs the loop.
class LoopState {
 public:
  bool sync_gradients = true;
  /// Instead of the loaders' own choice, for epochs that begin meanwhile.
  std::optional<bool> even_batches;
  /// Through which rank 0 sends out what it reads for all. Collective when it is first called.
  std::function<std::shared_ptr<DispatchHub>()> dispatch_hub;

  /// A loader's iteration begins; it is the active one until it leaves.
  void enter(const void* loader);
  /// Its present batch: whether it is the epoch's last, how many samples of the global batch are
  /// real (-1: all; less than the batch where the tail was completed with repeated samples), and
  /// how many samples this rank has of it (-1: unknown).
  void update(const void* loader, bool last, std::int64_t real_samples, std::int64_t samples = -1);
  /// The iteration ended, by the end of the epoch, a break or an exception.
  void leave(const void* loader) noexcept;

  bool in_loader() const noexcept { return !active_.empty(); }
  bool end_of_loader() const noexcept;         ///< Of the active loader; false without one.
  std::int64_t real_samples() const noexcept;  ///< Of the active loader's batch; -1 without one.
  std::int64_t samples() const noexcept;       ///< Of this rank's batch; -1 without one.
  /// Calls of update so far, of any loader.
  std::uint64_t batches() const noexcept { return batches_; }

 private:
  struct Active {
    const void* loader;
    bool last;
    std::int64_t real_samples;
    std::int64_t samples;
  };
  std::vector<Active> active_;
  std::uint64_t batches_ = 0;
};

}  // namespace muster
