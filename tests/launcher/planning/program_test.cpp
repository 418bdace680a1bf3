#include "planning/program.hpp"

#include <catch2/catch_test_macros.hpp>

using muster::launcher::program_argv;
using Words = std::vector<std::string>;

TEST_CASE("A program is executed as it is") {
  CHECK(program_argv({"./train", "--lr", "1e-3"}, false, {}) == Words{"./train", "--lr", "1e-3"});
  CHECK(program_argv({"train.pyc"}, false, {}) == Words{"train.pyc"});
}

TEST_CASE("A Python file and a module run under Python, unbuffered") {
  CHECK(program_argv({"dir/train.py", "x"}, false, {}) ==
        Words{"python3", "-u", "dir/train.py", "x"});
  CHECK(program_argv({"pkg.mod", "x"}, true, {}) == Words{"python3", "-u", "-m", "pkg.mod", "x"});
  CHECK(program_argv({"a.py"}, false, {{"PYTHON_EXEC", "/opt/python"}}) ==
        Words{"/opt/python", "-u", "a.py"});
  CHECK(program_argv({"a.py"}, false, {{"PYTHON_EXEC", ""}}) == Words{"python3", "-u", "a.py"});
}
