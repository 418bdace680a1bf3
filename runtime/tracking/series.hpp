#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace muster::tracking {

/// Neighbouring values of a curve, drawn as one: their mean and how far they reach.
struct Bucket {
  std::int64_t first = 0, last = 0;  ///< Steps.
  std::int64_t count = 0;            ///< Finite values.
  std::int64_t not_finite = 0;
  double mean = 0, least = 0, most = 0;  ///< Of the finite ones; 0 without any.
  std::int64_t first_not_finite = 0;     ///< Its step, if there is one.

  void add(std::int64_t step, double value);
  void add(const Bucket& next);
  std::int64_t values() const noexcept { return count + not_finite; }
};

/// A curve of any length in bounded memory: where it has too many buckets, each two become one.
class Series {
 public:
  static constexpr std::size_t most_buckets = 512;

  explicit Series(std::string name) : name_(std::move(name)) {}
  Series(std::string name, std::vector<Bucket> buckets, double newest);

  /// Where `step` is before the newest, the curve goes on from there: what was later is dropped.
  void add(std::int64_t step, double value);
  /// Drops what there is from `step` on, to within a bucket.
  void cut(std::int64_t step);

  const std::string& name() const noexcept { return name_; }
  const std::vector<Bucket>& buckets() const noexcept { return buckets_; }
  double newest() const noexcept { return newest_; }
  /// At most `most` buckets.
  std::vector<Bucket> coarse(std::size_t most) const;

 private:
  std::string name_;
  std::vector<Bucket> buckets_;  ///< By step.
  std::int64_t bucket_size_ = 1;
  double newest_ = 0;
};

}  // namespace muster::tracking
