#include "variables.hpp"

#include <catch2/catch_test_macros.hpp>

#include <stdexcept>

namespace muster::launcher {

TEST_CASE("Variables are what ranks share, and above it their own") {
  const auto common = std::make_shared<Environment>(Environment{{"A", "1"}, {"B", "2"}});
  Variables one(common), other(common);
  one.set("B", "3");
  one.set("C", "");
  CHECK(one.at("A") == "1");
  CHECK(one.at("B") == "3");
  CHECK(one.contains("C"));
  CHECK(one.find("D") == nullptr);
  CHECK_THROWS_AS(one.at("D"), std::out_of_range);
  CHECK(one.whole() == Environment{{"A", "1"}, {"B", "3"}, {"C", ""}});
  CHECK(other.whole() == *common);
  CHECK(one.shares_with(other));
  CHECK_FALSE(one.shares_with(Variables()));
  CHECK(Variables().whole().empty());
}

}  // namespace muster::launcher
