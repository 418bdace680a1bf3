// A command in front of the program, in words as a shell would split them.

#include "planning/wrap.hpp"

#include <muster/error.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>

#include <string>
#include <vector>

namespace muster::launcher {
namespace {

using Words = std::vector<std::string>;

TEST_CASE("a command is split as a shell would") {
  const struct {
    const char* text;
    Words words;
  } rows[] = {
      {"gdb --args", {"gdb", "--args"}},
      {"  perf   record\t-o  x ", {"perf", "record", "-o", "x"}},
      {"a 'b c' \"d e\" f\\ g", {"a", "b c", "d e", "f g"}},
      {"a'b'\"c\"d", {"abcd"}},
      {"x '' \"\"", {"x", "", ""}},
      {R"("a\"b" "c\\d" "e\f" 'g\h')", {"a\"b", "c\\d", "e\\f", "g\\h"}},
      {"gdb -ex 'break main' --args", {"gdb", "-ex", "break main", "--args"}},
      {"$HOME *.c", {"$HOME", "*.c"}},
      {"", {}},
      {"   ", {}},
  };
  for (const auto& row : rows) {
    INFO(row.text);
    CHECK(split_command(row.text, "--wrap") == row.words);
  }
}

TEST_CASE("a command that does not end is refused") {
  for (const std::string text : {"gdb 'x", "gdb \"x", "gdb \"x\\\"", "gdb \\"}) {
    INFO(text);
    CHECK_THROWS_AS(split_command(text, "--wrap"), ConfigError);
  }
  CHECK_THROWS_WITH(split_command("gdb 'x", "--wrap"), "--wrap gdb 'x: a ' is not closed");
}

}  // namespace
}  // namespace muster::launcher
