#include "tracking/crc32c.hpp"

#include <catch2/catch_test_macros.hpp>

#include <string>

namespace muster::tracking {

TEST_CASE("crc32c gives the sums of RFC 3720") {
  CHECK(crc32c("") == 0);
  CHECK(crc32c("123456789") == 0xe3069283);
  CHECK(crc32c(std::string(32, '\0')) == 0x8a9136aa);
  CHECK(crc32c(std::string(32, '\xff')) == 0x62a8ab43);
}

}  // namespace muster::tracking
