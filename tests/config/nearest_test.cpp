#include <muster/nearest.hpp>

#include <catch2/catch_test_macros.hpp>

#include <vector>

namespace muster {

TEST_CASE("edit distance counts letters put in, taken out, replaced and swapped") {
  CHECK(edit_distance("", "") == 0);
  CHECK(edit_distance("", "abc") == 3);
  CHECK(edit_distance("abc", "") == 3);
  CHECK(edit_distance("abc", "abc") == 0);
  CHECK(edit_distance("abc", "axc") == 1);
  CHECK(edit_distance("abc", "ac") == 1);
  CHECK(edit_distance("abc", "acb") == 1);
  CHECK(edit_distance("kitten", "sitting") == 3);
}

TEST_CASE("the nearest word is offered only if it is near") {
  const std::vector<std::string> known{"seed", "level", "strategy", "gradient_accumulation_steps"};
  CHECK(nearest("strateggy", known) == "strategy");
  CHECK(nearest("gradient_acumulation_step", known) == "gradient_accumulation_steps");
  CHECK(nearest("sed", known) == "seed");
  CHECK_FALSE(nearest("x", known));
  CHECK_FALSE(nearest("colour", known));
  CHECK_FALSE(nearest(std::string(100000, 'a'), known));
  CHECK_FALSE(nearest("seed", {}));
  CHECK(did_you_mean("sede", known, "[", "]") == "; did you mean [seed]?");
  CHECK(did_you_mean("nothing like it", known).empty());
}

}  // namespace muster
