#include "data/rounds.hpp"

#include <muster/error.hpp>

#include <algorithm>
#include <deque>
#include <exception>
#include <iterator>
#include <utility>

namespace muster {

Rounds::Rounds(UnitReader reader, RoundRule rule, std::int64_t position)
    : reader_(std::move(reader)), rule_(rule), width_(rule.ranks * rule.batch), begin_(position) {}

std::optional<Unit> Rounds::read() {
  if (ended_) return std::nullopt;
  std::optional<Unit> unit = reader_.next();
  if (!unit) {
    ended_ = true;
    return unit;
  }
  ++position_;
  if (rule_.complete && std::ssize(first_) < width_) {
    first_.push_back(reader_.copy ? reader_.copy(*unit) : *unit);
  }
  return unit;
}

Round Rounds::next() {
  while (position_ < begin_) {
    if (!read()) return {};
  }
  std::vector<Unit> units;
  while (std::ssize(units) < width_) {
    std::optional<Unit> unit = read();
    if (!unit) break;
    units.push_back(std::move(*unit));
  }
  const bool full = std::ssize(units) == width_;
  if (units.empty() || (!full && rule_.drop_last)) return {};
  const std::int64_t real = !full && rule_.complete ? complete(units) : -1;
  Round round;
  auto next = std::make_move_iterator(units.begin());
  for (const std::int64_t length : lengths(std::ssize(units))) {
    const auto end = next + length;
    round.batches.push_back(make_batch({next, end}, static_cast<int>(round.batches.size())));
    round.batches.back().real_samples = real;
    next = end;
  }
  return round;
}

/// How many units each rank gets; ranks that get none are left out.
std::vector<std::int64_t> Rounds::lengths(std::int64_t units) const {
  std::vector<std::int64_t> lengths;
  for (int rank = 0; rank < rule_.ranks && units > 0; ++rank) {
    const std::int64_t left = rule_.ranks - rank;
    const std::int64_t share = rule_.spread ? (units + left - 1) / left : rule_.batch;
    lengths.push_back(std::min(share, units));
    units -= lengths.back();
  }
  return lengths;
}

IndexBatch Rounds::make_batch(std::vector<Unit> units, int rank) const {
  IndexBatch batch;
  batch.number = (position_ - 1) / width_;
  batch.rank = rank;
  batch.position = position_;
  batch.samples = 0;
  for (Unit& unit : units) {
    batch.indices.insert(batch.indices.end(), unit.indices.begin(), unit.indices.end());
    if (unit.item) batch.items.push_back(std::move(unit.item));
    batch.samples = unit.samples < 0 || batch.samples < 0 ? -1 : batch.samples + unit.samples;
  }
  return batch;
}

/// Returns how many samples there were before.
std::int64_t Rounds::complete(std::vector<Unit>& units) {
  std::int64_t real = 0;
  for (const Unit& unit : units) real += unit.samples;
  const auto missing =
      rule_.spread ? rule_.ranks - std::ssize(units) % rule_.ranks : width_ - std::ssize(units);
  if (rule_.spread && missing == rule_.ranks) return -1;
  for (std::size_t i = 0; i < static_cast<std::size_t>(missing); ++i) {
    const Unit& unit = first_[i % first_.size()];
    if (unit.samples < 0) {
      throw ConfigError(
          "data loader: the last round of batches has fewer than ranks, and how many samples a "
          "batch of this type has cannot be told, so that repeated ones could not be left out "
          "later: give even_batches = false");
    }
    units.push_back(reader_.copy ? reader_.copy(unit) : unit);
  }
  return real;
}

namespace {

class Parts : public IndexStream {
 public:
  Parts(Rounds rounds, int own) : rounds_(std::move(rounds)), own_(own) {}

  std::optional<IndexBatch> next() override {
    if (ready_.empty()) refill();
    if (ready_.empty()) {
      if (failure_) std::rethrow_exception(failure_);
      return std::nullopt;
    }
    IndexBatch batch = std::move(ready_.front());
    ready_.pop_front();
    return batch;
  }

 private:
  /// One more round is read, to know what was a rank's last batch; what that throws is due in its
  /// turn.
  void refill() {
    if (!begun_) read_ahead();
    begun_ = true;
    Round round = std::exchange(ahead_, {});
    if (!wanted(round) || failure_) {
      give(round);
      return;
    }
    read_ahead();
    give(round);
  }

  bool wanted(const Round& round) const {
    return own_ < 0 ? !round.batches.empty() : own_ < std::ssize(round.batches);
  }

  void read_ahead() {
    try {
      ahead_ = rounds_.next();
    } catch (...) {
      failure_ = std::current_exception();
    }
  }

  void give(Round& round) {
    for (auto& batch : round.batches) {
      if (own_ >= 0 && batch.rank != own_) continue;
      batch.last = !failure_ && batch.rank >= std::ssize(ahead_.batches);
      ready_.push_back(std::move(batch));
    }
  }

  Rounds rounds_;
  int own_;
  bool begun_ = false;
  Round ahead_;
  std::deque<IndexBatch> ready_;
  std::exception_ptr failure_;  ///< Of the round after those that were given out.
};

}  // namespace

std::unique_ptr<IndexStream> take_parts(Rounds rounds, int own) {
  return std::make_unique<Parts>(std::move(rounds), own);
}

}  // namespace muster
