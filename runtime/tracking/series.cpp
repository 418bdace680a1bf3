#include "tracking/series.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace muster::tracking {
namespace {

std::vector<Bucket> halved(const std::vector<Bucket>& buckets) {
  std::vector<Bucket> result;
  for (std::size_t at = 0; at < buckets.size(); ++at) {
    if (at % 2 == 0) {
      result.push_back(buckets[at]);
    } else {
      result.back().add(buckets[at]);
    }
  }
  return result;
}

}  // namespace

void Bucket::add(std::int64_t step, double value) {
  const bool finite = std::isfinite(value);
  add(Bucket{.first = step,
             .last = step,
             .count = finite ? 1 : 0,
             .not_finite = finite ? 0 : 1,
             .mean = finite ? value : 0,
             .least = finite ? value : 0,
             .most = finite ? value : 0,
             .first_not_finite = step});
}

void Bucket::add(const Bucket& next) {
  if (values() == 0) {
    *this = next;
    return;
  }
  last = next.last;
  if (not_finite == 0) first_not_finite = next.first_not_finite;
  not_finite += next.not_finite;
  if (next.count == 0) return;
  least = count == 0 ? next.least : std::min(least, next.least);
  most = count == 0 ? next.most : std::max(most, next.most);
  count += next.count;
  const double share = static_cast<double>(next.count) / static_cast<double>(count);
  mean = mean * (1 - share) + next.mean * share;
}

Series::Series(std::string name, std::vector<Bucket> buckets, double newest)
    : name_(std::move(name)), buckets_(std::move(buckets)), newest_(newest) {
  for (const auto& bucket : buckets_) bucket_size_ = std::max(bucket_size_, bucket.values());
}

void Series::add(std::int64_t step, double value) {
  if (!buckets_.empty() && step < buckets_.back().last) cut(step);
  if (buckets_.empty() || buckets_.back().values() >= bucket_size_) buckets_.emplace_back();
  buckets_.back().add(step, value);
  newest_ = value;
  if (buckets_.size() <= most_buckets) return;
  buckets_ = halved(buckets_);
  bucket_size_ *= 2;
}

void Series::cut(std::int64_t step) {
  while (!buckets_.empty() && buckets_.back().first >= step) buckets_.pop_back();
  if (buckets_.empty() || buckets_.back().last < step) return;
  buckets_.back().last = step - 1;
}

std::vector<Bucket> Series::coarse(std::size_t most) const {
  auto buckets = buckets_;
  while (buckets.size() > most) buckets = halved(buckets);
  return buckets;
}

}  // namespace muster::tracking
