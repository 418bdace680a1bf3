#include "supervise/rank_set.hpp"

#include <muster/error.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

namespace muster::launcher {
namespace {

std::vector<int> ranks(const std::string& text) {
  const RankSet set = RankSet::parse(text, 12, "--console-ranks");
  std::vector<int> found;
  for (int rank = -1; rank < 20; ++rank)
    if (set.contains(rank)) found.push_back(rank);
  return found;
}

TEST_CASE("lists of ranks") {
  CHECK(ranks("0,3-5") == std::vector{0, 3, 4, 5});
  CHECK(ranks("none").empty());
  CHECK(ranks("all").size() == 12);
}

TEST_CASE("lists of ranks that mean nothing are refused, with what would work") {
  CHECK_THROWS_MATCHES(ranks("0,12"), ConfigError,
                       Catch::Matchers::Message("--console-ranks '0,12': there is no rank 12; the "
                                                "job has ranks 0 to 11"));
  CHECK_THROWS_MATCHES(ranks("0,x"), ConfigError,
                       Catch::Matchers::Message("--console-ranks '0,x': expected all, none, or "
                                                "ranks such as 0,3-5"));
}

}  // namespace
}  // namespace muster::launcher
