#include <muster/error.hpp>
#include <muster/layout.hpp>

#include "layout/boxes.hpp"
#include "text.hpp"

#include <algorithm>
#include <string>

namespace muster {
namespace {

[[noreturn]] void refuse(const Layout& layout, const std::string& why) {
  const auto& state = layout.role.state;
  throw ModelError("layout of '" + layout.name + "'" + (state.empty() ? "" : " (" + state + ")") +
                   " " + to_text(layout.shape) + ": " + why);
}

void require_alike(const std::vector<Layout>& ranks) {
  const auto& first = ranks.front();
  for (std::size_t rank = 1; rank < ranks.size(); ++rank) {
    const auto& other = ranks[rank];
    if (other.name != first.name || other.role != first.role) {
      refuse(first, rank_text(static_cast<int>(rank)) + " tells of '" + other.name + "' instead");
    }
    if (other.shape != first.shape || other.dtype != first.dtype) {
      refuse(first, "of " + std::string(c10::toString(first.dtype)) + " on rank 0, but " +
                        rank_text(static_cast<int>(rank)) + " has " + to_text(other.shape) +
                        " of " + c10::toString(other.dtype));
    }
  }
}

void require_inside(const Layout& layout, const Piece& piece, std::size_t rank) {
  const auto dimensions = layout.shape.size();
  bool inside = piece.offset.size() == dimensions && piece.extent.size() == dimensions;
  std::int64_t block = 1;
  for (std::size_t i = 0; inside && i < dimensions; ++i) {
    inside = piece.offset[i] >= 0 && piece.extent[i] >= 0 &&
             piece.offset[i] + piece.extent[i] <= layout.shape[i];
    block *= piece.extent[i];
  }
  const auto interval = piece.interval.value_or(Interval{0, 0});
  inside = inside && interval.begin >= 0 && interval.begin <= interval.end && interval.end <= block;
  if (!inside) {
    refuse(layout, rank_text(static_cast<int>(rank)) + " has a piece outside of it: offset " +
                       to_text(piece.offset) + ", extent " + to_text(piece.extent) +
                       ", interval [" + std::to_string(interval.begin) + ", " +
                       std::to_string(interval.end) + ")");
  }
}

/// The first element in row-major order that no box holds.
std::vector<std::int64_t> find_hole(const std::vector<Box>& boxes,
                                    const std::vector<std::int64_t>& shape) {
  std::vector<std::int64_t> index(shape.size(), 0);
  for (;;) {
    // The box that holds `index` reaches to its end along the last dimension.
    const auto holder = std::find_if(boxes.begin(), boxes.end(), [&](const Box& box) {
      for (std::size_t i = 0; i < index.size(); ++i) {
        if (index[i] < box.begin[i] || index[i] >= box.end[i]) {
          return false;
        }
      }
      return true;
    });
    if (holder == boxes.end() || index.empty()) {
      return index;
    }
    index.back() = holder->end.back();
    for (std::size_t i = index.size(); i-- > 1 && index[i] >= shape[i];) {
      index[i] = 0;
      ++index[i - 1];
    }
  }
}

}  // namespace

void require_complete(const std::vector<Layout>& ranks) {
  if (ranks.empty()) {
    return;
  }
  require_alike(ranks);
  const auto& first = ranks.front();
  std::vector<Box> boxes;
  std::int64_t covered = 0;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    for (const auto& piece : ranks[rank].pieces) {
      require_inside(first, piece, rank);
      if (ranks[rank].replica == 0) {
        const auto more = boxes_of(piece, static_cast<int>(rank));
        boxes.insert(boxes.end(), more.begin(), more.end());
        covered += piece.numel();
      }
    }
  }
  if (const auto twice = find_overlap(boxes)) {
    std::vector<std::int64_t> element;
    for (std::size_t i = 0; i < first.shape.size(); ++i) {
      element.push_back(std::max(twice->first.begin[i], twice->second.begin[i]));
    }
    refuse(first, "element " + to_text(element) + " is held twice, by ranks " +
                      std::to_string(twice->first.rank) + " and " +
                      std::to_string(twice->second.rank));
  }
  if (covered < first.numel()) {
    refuse(first, "no rank holds element " + to_text(find_hole(boxes, first.shape)) + "; " +
                      std::to_string(covered) + " of " + std::to_string(first.numel()) +
                      " elements are held");
  }
}

}  // namespace muster
