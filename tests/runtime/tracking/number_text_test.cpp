#include "tracking/number_text.hpp"

#include <catch2/catch_test_macros.hpp>

#include <cstdlib>
#include <limits>

namespace muster::tracking {

TEST_CASE("An exact number reads back as the same bits") {
  for (const double value : {0.1, 1.0 / 3, 1e300, 5e-324, -2.5, 123456789.123}) {
    CHECK(std::strtod(exact(value).c_str(), nullptr) == value);
  }
  CHECK(exact(0.1) == "0.1");
  CHECK(exact(3) == "3");
  CHECK(exact(-std::numeric_limits<double>::quiet_NaN()) == "nan");
  CHECK(exact(-std::numeric_limits<double>::infinity()) == "-inf");
}

TEST_CASE("A short number is read at a glance") {
  CHECK(short_number(0) == "0");
  CHECK(short_number(0.41234) == "0.4123");
  CHECK(short_number(1e-5) == "1e-05");
  CHECK(short_number(9999) == "9999");
  CHECK(short_number(9999.9) == "10 k");
  CHECK(short_number(31234) == "31.23 k");
  CHECK(short_number(999999) == "1 M");
  CHECK(short_number(-2.5e9) == "-2.5 G");
  CHECK(short_number(123456.1, 8) == "123.4561 k");
  CHECK(short_number(1e20) == "1e+20");
}

}  // namespace muster::tracking
