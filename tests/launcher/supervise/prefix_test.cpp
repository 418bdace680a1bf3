#include "supervise/prefix.hpp"

#include <muster/error.hpp>

#include <catch2/catch_test_macros.hpp>

namespace muster::launcher {
namespace {

ProcessSpec spec() {
  ProcessSpec spec;
  spec.world.rank = 12;
  spec.world.size = 16;
  spec.world.local_rank = 4;
  spec.world.node_rank = 1;
  spec.host = "node-b";
  return spec;
}

TEST_CASE("prefixes are filled in") {
  CHECK(expand_prefix("[{rank}] ", spec()) == "[12] ");
  CHECK(expand_prefix("{host}:{node}/{local_rank}> ", spec()) == "node-b:1/4> ");
  CHECK(expand_prefix("", spec()).empty());
  CHECK(expand_prefix("a { b", spec()) == "a { b");
}

TEST_CASE("an unknown word in a prefix is refused") {
  CHECK_THROWS_AS(expand_prefix("{rnak}", spec()), ConfigError);
}

TEST_CASE("columns are characters, not bytes") {
  CHECK(columns_of("[12] ") == 5);
  CHECK(columns_of("│é│") == 3);
}

TEST_CASE("ranks have colours that differ, and a prefix of nothing has none") {
  CHECK(coloured("[0] ", 0) == "\x1b[36m[0] \x1b[0m");
  CHECK(coloured("[1] ", 1) != coloured("[1] ", 2));
  CHECK(coloured("", 3).empty());
}

}  // namespace
}  // namespace muster::launcher
