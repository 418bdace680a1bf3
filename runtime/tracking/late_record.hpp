#pragma once

#include <muster/tracker.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

namespace muster::tracking {

/// A number that is still being computed.
class LateNumber {
 public:
  virtual ~LateNumber() = default;
  virtual bool ready() = 0;
  /// Blocks until it is ready.
  virtual TrackedValue value() = 0;
};

struct LateItem {
  std::string name;
  std::variant<TrackedValue, std::shared_ptr<LateNumber>> value;
};

/// A record some of whose numbers may be late.
struct LateRecord {
  std::int64_t step = 0;
  double time = 0;
  std::vector<LateItem> items;

  bool ready() const;
  /// Blocks until all are ready.
  TrackedRecord record() const;
};

}  // namespace muster::tracking
