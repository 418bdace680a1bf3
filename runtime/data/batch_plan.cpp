#include "data/batch_plan.hpp"

#include <muster/error.hpp>

#include <algorithm>
#include <string>

namespace muster {
namespace {

std::int64_t samples_of_a_rank(const DataLoaderOptions& options, Shard shard) {
  if (options.batch_size < 1) {
    throw ConfigError("data loader: batch_size = " + std::to_string(options.batch_size) +
                      ": expected 1 or more");
  }
  if (!options.split_batches) return options.batch_size;
  if (options.batch_size % shard.count != 0) {
    throw ConfigError(
        "data loader: with split_batches, batch_size = " + std::to_string(options.batch_size) +
        " must be a multiple of the " + std::to_string(shard.count) + " ranks that share it");
  }
  return options.batch_size / shard.count;
}

}  // namespace

BatchPlan::BatchPlan(std::int64_t samples, const DataLoaderOptions& options, Shard shard,
                     std::int64_t position)
    : samples_(samples),
      position_(std::min(position, samples)),
      batch_(samples_of_a_rank(options, shard)),
      width_(batch_ * shard.count),
      offset_(batch_ * shard.index),
      completed_(options.even_batches && shard.count > 1),
      size_((samples - position_) / width_) {
  const std::int64_t tail = (samples - position_) % width_;
  if (tail > 0 && !options.drop_last && (completed_ || tail > offset_)) ++size_;
}

BatchSpan BatchPlan::operator[](std::int64_t number) const noexcept {
  const std::int64_t round = position_ + number * width_;
  BatchSpan span{round + offset_, round + offset_ + batch_, -1, std::min(round + width_, samples_)};
  if (round + width_ <= samples_) return span;
  if (completed_) {
    span.real_samples = samples_ - round;
  } else {
    span.end = std::min(span.end, samples_);
  }
  return span;
}

std::int64_t shared_size(std::int64_t batches, const DataLoaderOptions& options,
                         Shard shard) noexcept {
  const std::int64_t tail = batches % shard.count;
  const bool has_tail =
      !options.drop_last && tail > 0 && (options.even_batches || shard.index < tail);
  return batches / shard.count + (has_tail ? 1 : 0);
}

}  // namespace muster
