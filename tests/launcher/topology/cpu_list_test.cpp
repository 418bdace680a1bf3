#include "topology/cpu_list.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

using muster::launcher::format_cpu_list;
using muster::launcher::intersect;
using muster::launcher::parse_cpu_list;
using List = std::vector<int>;

TEST_CASE("CPU lists are read and written in the kernel's form") {
  CHECK(parse_cpu_list("0-3,8") == List{0, 1, 2, 3, 8});
  CHECK(parse_cpu_list("8,1-2,2") == List{1, 2, 8});
  CHECK(parse_cpu_list("") == List{});
  CHECK(format_cpu_list({0, 1, 2, 3, 8}) == "0-3,8");
  CHECK(format_cpu_list({5}) == "5");
  CHECK(format_cpu_list({}).empty());
}

TEST_CASE("What is no CPU list is nothing") {
  const auto* text =
      GENERATE("a", "1-", "-1", "3-1", "1,,2", "1,", "1;2", " 1", "0-99999999999", "0-9999999");
  CAPTURE(text);
  CHECK_FALSE(parse_cpu_list(text));
}

TEST_CASE("The intersection keeps what both have") {
  CHECK(intersect({0, 1, 2, 5}, {1, 5, 7}) == List{1, 5});
  CHECK(intersect({0}, {1}).empty());
}
