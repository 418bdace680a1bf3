#include <muster/error.hpp>
#include <muster/layout.hpp>

#include "backends/catch.hpp"

#include <random>
#include <string>
#include <vector>

namespace muster {
namespace {

using Pieces = std::vector<Piece>;

/// One layout a rank, of a tensor of that shape.
std::vector<Layout> layouts(const std::vector<std::int64_t>& shape,
                            const std::vector<Pieces>& ranks) {
  std::vector<Layout> result;
  for (const auto& pieces : ranks) {
    auto layout = replicated("fc.weight", {}, c10::ScalarType::Float, shape, 0);
    layout.pieces = pieces;
    result.push_back(layout);
  }
  return result;
}

std::string fault(const std::vector<Layout>& ranks) {
  try {
    require_complete(ranks);
  } catch (const ModelError& error) {
    return error.what();
  }
  return "";
}

Piece block(std::vector<std::int64_t> offset, std::vector<std::int64_t> extent) {
  return {std::move(offset), std::move(extent), std::nullopt};
}

Piece slice(std::vector<std::int64_t> offset, std::vector<std::int64_t> extent, std::int64_t begin,
            std::int64_t end) {
  return {std::move(offset), std::move(extent), Interval{begin, end}};
}

TEST_CASE("layouts count their elements") {
  const auto whole = replicated("w", {}, c10::ScalarType::Half, {3, 4}, 0);
  CHECK(whole.numel() == 12);
  CHECK(whole.local_numel() == 12);
  CHECK(replicated("s", {}, c10::ScalarType::Float, {}, 0).numel() == 1);
  CHECK(slice({0, 0}, {3, 4}, 5, 9).numel() == 4);
}

TEST_CASE("columns, rows, uneven and interleaved splits are complete") {
  CHECK(fault(layouts({4, 6}, {{block({0, 0}, {4, 3})}, {block({0, 3}, {4, 3})}})).empty());
  CHECK(fault(layouts({4, 6}, {{block({0, 0}, {1, 6})}, {block({1, 0}, {3, 6})}})).empty());
  // Rows 0 and 2 here, 1 and 3 there.
  CHECK(fault(layouts({4, 6}, {{block({0, 0}, {1, 6}), block({2, 0}, {1, 6})},
                               {block({1, 0}, {1, 6}), block({3, 0}, {1, 6})}}))
            .empty());
}

TEST_CASE("flat slices, alone and on top of a column split, are complete") {
  CHECK(fault(layouts({4, 6}, {{slice({0, 0}, {4, 6}, 0, 11)}, {slice({0, 0}, {4, 6}, 11, 24)}}))
            .empty());
  CHECK(fault(layouts({4, 6}, {{slice({0, 0}, {4, 3}, 0, 7)},
                               {slice({0, 0}, {4, 3}, 7, 12)},
                               {slice({0, 3}, {4, 3}, 0, 1)},
                               {slice({0, 3}, {4, 3}, 1, 12)}}))
            .empty());
}

TEST_CASE("ranks without pieces, scalars, empty tensors and replicas are fine") {
  CHECK(fault(layouts({4, 6}, {{}, {block({0, 0}, {4, 6})}, {}})).empty());
  CHECK(fault(layouts({}, {{block({}, {})}, {}})).empty());
  CHECK(fault(layouts({0, 3}, {{}, {}})).empty());
  auto copies = layouts({4}, {{block({0}, {4})}, {block({0}, {4})}});
  copies[1].replica = 1;
  CHECK(fault(copies).empty());
  CHECK(fault({}).empty());
}

TEST_CASE("an element that nobody holds is named") {
  CHECK(fault(layouts({4, 6}, {{block({0, 0}, {4, 3})}, {block({0, 4}, {4, 2})}})) ==
        "layout of 'fc.weight' [4, 6]: no rank holds element [0, 3]; 20 of 24 elements are held");
  CHECK(fault(layouts({4, 6}, {{slice({0, 0}, {4, 6}, 0, 13)}, {slice({0, 0}, {4, 6}, 14, 24)}}))
            .find("[2, 1]") != std::string::npos);
  CHECK(fault(layouts({}, {{}, {}})).find("no rank holds element []") != std::string::npos);
}

TEST_CASE("an element that two hold is named, with both") {
  CHECK(fault(layouts({4, 6}, {{block({0, 0}, {4, 4})}, {block({0, 3}, {4, 3})}})) ==
        "layout of 'fc.weight' [4, 6]: element [0, 3] is held twice, by ranks 0 and 1");
  // One too many and one too few: the counts agree.
  CHECK(fault(layouts({8}, {{block({0}, {5})}, {block({4}, {3})}}))
            .find("element [4] is held twice") != std::string::npos);
  CHECK(fault(layouts({}, {{block({}, {})}, {block({}, {})}})).find("held twice") !=
        std::string::npos);
}

TEST_CASE("pieces outside the tensor and ranks that tell of other tensors are refused") {
  CHECK(fault(layouts({4}, {{block({2}, {3})}})).find("rank 0 has a piece outside of it") !=
        std::string::npos);
  CHECK(fault(layouts({4}, {{slice({0}, {4}, 2, 5)}})).find("interval [2, 5)") !=
        std::string::npos);
  CHECK(fault(layouts({4}, {{block({0, 0}, {4, 1})}})).find("outside") != std::string::npos);
  auto other = layouts({4}, {{block({0}, {4})}, {}});
  other[1].name = "fc.bias";
  CHECK(fault(other).find("rank 1 tells of 'fc.bias' instead") != std::string::npos);
  other[1].name = "fc.weight";
  other[1].shape = {5};
  CHECK(fault(other).find("rank 1 has [5] of Float") != std::string::npos);
  auto state = layouts({4}, {{}});
  state[0].role = {Role::Kind::optimizer_state, "exp_avg"};
  CHECK(fault(state).find("'fc.weight' (exp_avg)") != std::string::npos);
}

TEST_CASE("random cuts of random blocks are judged as counting each element does") {
  std::mt19937 random(3);
  const auto below = [&](int limit) {
    return std::uniform_int_distribution<std::int64_t>(0, limit - 1)(random);
  };
  int complete = 0;
  for (int round = 0; round < 400; ++round) {
    const std::vector<std::int64_t> shape{1 + below(4), 1 + below(3), 1 + below(5)};
    const std::int64_t numel = shape[0] * shape[1] * shape[2];
    // Two blocks along the first dimension, each cut into intervals; some cut is moved by one.
    const auto rows = below(static_cast<int>(shape[0]) + 1);
    std::vector<Pieces> ranks;
    std::vector<int> held(static_cast<std::size_t>(numel), 0);
    for (const auto& [first, count] :
         {std::pair(std::int64_t{0}, rows), std::pair(rows, shape[0] - rows)}) {
      const auto size = count * shape[1] * shape[2];
      for (std::int64_t begin = 0; begin < size;) {
        const auto end = std::min(size, begin + 1 + below(7));
        const auto shift = begin > 0 && below(40) == 0 ? 1 : 0;
        ranks.push_back({slice({first, 0, 0}, {count, shape[1], shape[2]}, begin - shift, end)});
        for (auto i = begin - shift; i < end; ++i) {
          ++held[static_cast<std::size_t>(first * shape[1] * shape[2] + i)];
        }
        begin = below(40) == 0 ? end + 1 : end;
      }
    }
    bool once = true;
    for (const int count : held) {
      once = once && count == 1;
    }
    complete += once ? 1 : 0;
    INFO("round " << round);
    if (ranks.empty()) {
      continue;
    }
    CHECK(fault(layouts(shape, ranks)).empty() == once);
  }
  CHECK(complete > 50);
  CHECK(complete < 390);
}

}  // namespace
}  // namespace muster
