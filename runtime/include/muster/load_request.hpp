#pragma once

#include <muster/stream.hpp>

#include <ATen/core/Generator.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <utility>
#include <vector>

namespace muster {

/// One batch that a loader asks its data set for. Used by the one thread that loads it.
class LoadRequest {
 public:
  LoadRequest(std::vector<std::int64_t> indices, std::int64_t seed, std::int64_t epoch,
              std::stop_token stop)
      : indices_(std::move(indices)), seed_(seed), epoch_(epoch), stop_(std::move(stop)) {}
  /// Of what was read from a stream.
  explicit LoadRequest(std::vector<Item> items) : items_(std::move(items)) {}

  std::vector<Item>& items() noexcept { return items_; }
  const std::vector<std::int64_t>& indices() const noexcept { return indices_; }
  /// The sample that is about to be read, for the text of errors. Throws if the loop has ended
  /// meanwhile.
  void enter(std::int64_t index);
  /// Random numbers for sample `index`: a function of (seed, epoch, index) only, whichever rank,
  /// worker or batch reads it. Valid until the next call.
  at::Generator& generator(std::int64_t index);
  /// The sample in work; nothing if the batch is read as a whole.
  std::optional<std::int64_t> current() const noexcept { return current_; }

 private:
  std::vector<Item> items_;
  std::vector<std::int64_t> indices_;
  std::int64_t seed_ = 0, epoch_ = 0;
  std::stop_token stop_;
  std::optional<std::int64_t> current_;
  at::Generator generator_;
};

/// Loads one batch; the result's type is known to the DataLoader that made the function. Several
/// threads may call it.
using LoadFunction = std::function<std::shared_ptr<void>(LoadRequest&)>;

}  // namespace muster
