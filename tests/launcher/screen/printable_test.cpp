#include "screen/printable.hpp"

#include <catch2/catch_test_macros.hpp>

using muster::launcher::printable;

TEST_CASE("What others wrote is shown on one line, and cut") {
  CHECK(printable("a\n\x1b[31mb\x7f\xc3\xa9") == "a??[31mb?\xc3\xa9");
  CHECK(printable("abcdef", 3) == "abc");
  CHECK(printable("") == "");
}
