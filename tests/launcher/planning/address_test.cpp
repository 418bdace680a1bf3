#include "planning/address.hpp"

#include <muster/error.hpp>

#include <catch2/catch_test_macros.hpp>

using muster::launcher::literal_address;

TEST_CASE("Ranks get an address, never a name") {
  CHECK(literal_address("") == "127.0.0.1");
  CHECK(literal_address("localhost") == "127.0.0.1");
  CHECK(literal_address("10.0.0.7") == "10.0.0.7");
  CHECK(literal_address("fd00::7") == "fd00::7");
  CHECK(literal_address("[fd00::7]") == "fd00::7");
  CHECK_THROWS_AS(literal_address("no such host.invalid"), muster::ConfigError);
}
