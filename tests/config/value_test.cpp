#include <muster/value.hpp>

#include <catch2/catch_test_macros.hpp>

namespace muster {

TEST_CASE("values as text and as TOML") {
  const auto both = [](const Value& value) { return to_text(value) + " / " + to_toml(value); };
  CHECK(both({}) == "none / \"none\"");
  CHECK(both(Auto{}) == "auto / \"auto\"");
  CHECK(both(true) == "true / true");
  CHECK(both(std::int64_t{-4}) == "-4 / -4");
  CHECK(both(30.0) == "30 / 30");
  CHECK(both(0.1) == "0.1 / 0.1");
  CHECK(both(1e8) == "100000000 / 100000000");
  CHECK(both(1e300) == "1e+300 / 1e+300");
  CHECK(both(std::string("a \"b\"")) == "a \"b\" / \"a \\\"b\\\"\"");
  CHECK(both(std::vector<std::string>{"0", "2"}) == "0,2 / [\"0\", \"2\"]");
  CHECK(both(std::vector<std::string>{}) == " / []");
  CHECK(both(std::map<std::string, std::string>{{"A", "1"}, {"B", "2"}}) ==
        "A=1,B=2 / { \"A\" = \"1\", \"B\" = \"2\" }");
  CHECK(both(std::map<std::string, std::string>{}) == " / {}");
}

TEST_CASE("strings are escaped as TOML wants it") {
  CHECK(toml_string("") == "\"\"");
  CHECK(toml_string("tab\tline\nback\\slash") == "\"tab\\tline\\nback\\\\slash\"");
  CHECK(toml_string(std::string("\0\x1f\x7f", 3)) == "\"\\u0000\\u001f\\u007f\"");
  CHECK(toml_string("\xc3\xa9") == "\"\xc3\xa9\"");
}

}  // namespace muster
