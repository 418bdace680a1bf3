#include "layout/boxes.hpp"

#include <algorithm>
#include <set>

namespace muster {
namespace {

/// Cuts intervals of a block, in its row-major order, into boxes.
class Cutter {
 public:
  Cutter(const Piece& piece, int rank, std::vector<Box>& boxes)
      : piece_(piece), boxes_(boxes), prefix_{piece.offset, piece.offset, rank} {
    for (std::size_t i = 0; i < prefix_.end.size(); ++i) {
      prefix_.end[i] += piece.extent[i];
    }
  }

  /// [begin, end) of the elements of one index of all dimensions before `dimension`.
  void cut(std::size_t dimension, std::int64_t begin, std::int64_t end) {
    if (begin >= end) {
      return;
    }
    if (dimension == piece_.extent.size()) {
      boxes_.push_back(prefix_);
      return;
    }
    std::int64_t inner = 1;
    for (std::size_t i = dimension + 1; i < piece_.extent.size(); ++i) {
      inner *= piece_.extent[i];
    }
    const auto first = begin / inner;
    const auto last = (end - 1) / inner;
    // Whole rows at once; a broken one at either end goes a dimension deeper.
    const auto whole_begin = begin % inner == 0 ? first : first + 1;
    const auto whole_end = end % inner == 0 ? last + 1 : last;
    if (whole_begin > first) {
      row(dimension, first,
          [&] { cut(dimension + 1, begin % inner, std::min(inner, end - first * inner)); });
    }
    if (whole_begin < whole_end) {
      rows(dimension, whole_begin, whole_end);
    }
    if (whole_end <= last && (last != first || whole_begin == first)) {
      row(dimension, last, [&] {
        cut(dimension + 1, std::max<std::int64_t>(0, begin - last * inner), end - last * inner);
      });
    }
  }

 private:
  template <class Body>
  void row(std::size_t dimension, std::int64_t index, const Body& body) {
    const Box before = prefix_;
    prefix_.begin[dimension] = piece_.offset[dimension] + index;
    prefix_.end[dimension] = prefix_.begin[dimension] + 1;
    body();
    prefix_ = before;
  }

  void rows(std::size_t dimension, std::int64_t begin, std::int64_t end) {
    Box box = prefix_;
    box.begin[dimension] = piece_.offset[dimension] + begin;
    box.end[dimension] = piece_.offset[dimension] + end;
    boxes_.push_back(std::move(box));
  }

  const Piece& piece_;
  std::vector<Box>& boxes_;
  Box prefix_;
};

bool overlap(const Box& a, const Box& b) {
  for (std::size_t i = 0; i < a.begin.size(); ++i) {
    if (a.begin[i] >= b.end[i] || b.begin[i] >= a.end[i]) {
      return false;
    }
  }
  return true;
}

/// The dimension along which boxes differ most, so that few of them meet on the way.
std::size_t sweep_dimension(const std::vector<Box>& boxes) {
  std::size_t best = 0;
  std::size_t most = 0;
  for (std::size_t i = 0; i < boxes.front().begin.size(); ++i) {
    std::set<std::int64_t> begins;
    for (const auto& box : boxes) {
      begins.insert(box.begin[i]);
    }
    if (begins.size() > most) {
      most = begins.size();
      best = i;
    }
  }
  return best;
}

}  // namespace

std::int64_t Box::numel() const {
  std::int64_t product = 1;
  for (std::size_t i = 0; i < begin.size(); ++i) {
    product *= end[i] - begin[i];
  }
  return product;
}

std::vector<Box> boxes_of(const Piece& piece, int rank) {
  std::vector<Box> boxes;
  if (piece.numel() == 0) {
    return boxes;
  }
  const auto interval = piece.interval.value_or(Interval{0, piece.numel()});
  Cutter(piece, rank, boxes).cut(0, interval.begin, interval.end);
  return boxes;
}

std::optional<std::pair<Box, Box>> find_overlap(std::vector<Box> boxes) {
  if (boxes.size() < 2) {
    return std::nullopt;
  }
  if (boxes.front().begin.empty()) {
    return std::pair(boxes[0], boxes[1]);  // Of a scalar there is one element only.
  }
  const auto along = sweep_dimension(boxes);
  std::sort(boxes.begin(), boxes.end(),
            [&](const Box& a, const Box& b) { return a.begin[along] < b.begin[along]; });
  std::vector<const Box*> open;
  for (const auto& box : boxes) {
    std::erase_if(open, [&](const Box* other) { return other->end[along] <= box.begin[along]; });
    for (const auto* other : open) {
      if (overlap(*other, box)) {
        return std::pair(*other, box);
      }
    }
    open.push_back(&box);
  }
  return std::nullopt;
}

}  // namespace muster
