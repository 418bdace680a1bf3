#include "text.hpp"

#include <catch2/catch_test_macros.hpp>

namespace muster::launcher {

using Parts = std::vector<std::string_view>;

TEST_CASE("Text is split at separators, without empty parts") {
  CHECK(split("a,b,,c,", ',') == Parts{"a", "b", "c"});
  CHECK(split("", ',').empty());
  CHECK(split(",", ',').empty());
}

TEST_CASE("White space around text goes") {
  CHECK(trim(" \t a b \n") == "a b");
  CHECK(trim(" \n").empty());
}

TEST_CASE("A number is the whole text or none") {
  CHECK(to_number<int>("12") == 12);
  CHECK(to_number<double>("2.5") == 2.5);
  for (const auto* text : {"", "12x", " 12", "max", "99999999999"}) {
    CAPTURE(text);
    CHECK_FALSE(to_number<int>(text));
  }
}

TEST_CASE("A field is what follows its name on its line") {
  const auto* text = "Model: \t NVIDIA H200\nMemTotal:  16 kB\nMemTotalX: 1\n";
  CHECK(field(text, "Model") == "NVIDIA H200");
  CHECK(field(text, "MemTotal") == "16 kB");
  CHECK(field(text, "Mem").empty());
  CHECK(field(text, "GPU").empty());
}

}  // namespace muster::launcher

TEST_CASE("Words of a shell are quoted if they need it") {
  CHECK(muster::launcher::shell_quoted("job-1.toml") == "job-1.toml");
  CHECK(muster::launcher::shell_quoted("") == "''");
  CHECK(muster::launcher::shell_quoted("a b") == "'a b'");
  CHECK(muster::launcher::shell_quoted("it's") == "'it'\\''s'");
  CHECK(muster::launcher::shell_quoted("$(x)") == "'$(x)'");
}
