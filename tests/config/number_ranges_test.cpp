#include <muster/number_ranges.hpp>

#include <catch2/catch_test_macros.hpp>

namespace muster {
namespace {

std::vector<int> numbers_in(std::string_view text) {
  const auto numbers = NumberRanges::parse(text);
  REQUIRE(numbers);
  std::vector<int> found;
  for (int number = -1; number < 20; ++number)
    if (numbers->contains(number)) found.push_back(number);
  return found;
}

TEST_CASE("numbers and ranges of them") {
  CHECK(numbers_in("0,3-5") == std::vector{0, 3, 4, 5});
  CHECK(numbers_in("10") == std::vector{10});
  CHECK(numbers_in(" 11 , 2 - 2 ") == std::vector{2, 11});
  CHECK(numbers_in("4-6,5-7") == std::vector{4, 5, 6, 7});
  CHECK(NumberRanges::parse("7,3-5")->highest() == 7);
  CHECK(NumberRanges::parse("3-15,7")->highest() == 15);
  CHECK(NumberRanges::parse("3,1-2")->ranges() == std::vector<NumberRanges::Range>{{3, 3}, {1, 2}});
}

TEST_CASE("what is no list of numbers") {
  for (const char* text : {"", ",", "1,", ",1", "1,,2", "1-", "-1", "5-3", "a", "1;2", "0x1", "1 2",
                           "1-2-3", "all", "99999999999", "+1", "1.0"}) {
    INFO(text);
    CHECK_FALSE(NumberRanges::parse(text));
  }
}

}  // namespace
}  // namespace muster
