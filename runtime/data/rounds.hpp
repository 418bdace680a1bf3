#pragma once

#include <muster/data_loader_options.hpp>

#include "data/index_stream.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace muster {

/// What is handed out as a whole: a sample, or a batch that the user has made.
struct Unit {
  std::vector<std::int64_t> indices;  ///< Or
  Item item;                          ///< of a stream.
  std::int64_t samples = 1;           ///< -1: cannot be told.
};

/// Reads units from the epoch's beginning.
struct UnitReader {
  std::function<std::optional<Unit>()> next;  ///< Not called again once it has ended.
  std::function<Unit(const Unit&)> copy;      ///< For one that is handed out twice. Null: as it is.
};

/// How units are cut into rounds, one batch for each rank.
struct RoundRule {
  int ranks = 1;
  std::int64_t batch = 1;  ///< Units of one rank's batch.
  bool complete = false;   ///< A last round that is not full, with units from the beginning.
  bool drop_last = false;  ///< Or leaves it out.
  bool spread = false;     ///< Or spreads it evenly over the ranks.
};

struct Round {
  std::vector<IndexBatch> batches;  ///< At most one a rank; rank r's is the r-th. None: the end.
};

/// The rounds of an epoch, from `position` units on.
class Rounds {
 public:
  Rounds(UnitReader reader, RoundRule rule, std::int64_t position);
  Round next();

 private:
  std::optional<Unit> read();
  std::vector<std::int64_t> lengths(std::int64_t units) const;
  IndexBatch make_batch(std::vector<Unit> units, int rank) const;
  std::int64_t complete(std::vector<Unit>& units);

  UnitReader reader_;
  RoundRule rule_;
  std::int64_t width_;
  std::int64_t begin_;
  std::int64_t position_ = 0;
  std::vector<Unit> first_;  ///< Of the epoch, to complete the last round.
  bool ended_ = false;
};

/// The part of rank `own` of each round, or with -1 those of all ranks in turn. What reading throws
/// is due after the batches before it.
std::unique_ptr<IndexStream> take_parts(Rounds rounds, int own);

}  // namespace muster
