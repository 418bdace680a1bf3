#include "supervise/exception_text.hpp"

#include <catch2/catch_test_macros.hpp>

#include <vector>

namespace muster::launcher {
namespace {

std::string text_of(const std::vector<std::string>& lines) { return exception_text(lines); }

TEST_CASE("what() of an exception that nobody caught, or its type") {
  CHECK(text_of({"epoch 1", "terminate called after throwing an instance of 'std::runtime_error'",
                 "  what():  label 11"}) == "label 11");
  CHECK(text_of({"terminate called after throwing an instance of 'Quit'"}) == "Quit");
}

TEST_CASE("the last line of a traceback, of the last one if they are chained") {
  CHECK(text_of({"Traceback (most recent call last):", "  File \"a.py\", line 1", "KeyError: 3", "",
                 "During handling of the above exception, another exception occurred:", "",
                 "Traceback (most recent call last):", "  File \"a.py\", line 3",
                 "ValueError: no label", "done"}) == "ValueError: no label");
  CHECK(text_of({"[rank1]: Traceback (most recent call last):", "[rank1]:   File \"a.py\"",
                 "a line of another thread", "[rank1]: RuntimeError: timed out"}) ==
        "RuntimeError: timed out");
  CHECK(text_of({"Traceback (most recent call last):", "  File \"a.py\""}).empty());
}

TEST_CASE("a traceback whose first lines are gone, or that has none") {
  CHECK(text_of({"[rank1]:     loss.backward()", "[rank1]:            ^^^^^^",
                 "[rank1]:   File \"a.py\", line 3, in step", "[rank1]:     raise Full(3)",
                 "[rank1]: torch.OutOfMemoryError: no room"}) == "torch.OutOfMemoryError: no room");
  CHECK(text_of({"  File \"a.py\", line 1", "    f(", "     ^",
                 "SyntaxError: '(' was never closed"}) == "SyntaxError: '(' was never closed");
  CHECK(
      text_of({"Stack:", "  File \"a.py\", line 3, in step", "    print_stack()", "done"}).empty());
  CHECK(text_of({"Fatal Python error: Segmentation fault", "",
                 "Current thread (most recent call first):", "  File \"a.py\", line 3 in step",
                 "ExtensionError: not of this"})
            .empty());
}

TEST_CASE("panics") {
  CHECK(text_of({"thread 'main' panicked at src/main.rs:2:5:", "index out of bounds"}) ==
        "index out of bounds");
  CHECK(text_of({"panic: assignment to entry in nil map", "goroutine 1 [running]:"}) ==
        "assignment to entry in nil map");
}

TEST_CASE("other lines are no exception") {
  CHECK(text_of({}).empty());
  CHECK(text_of({"error: cannot open", "ValueError: not of a traceback"}).empty());
}

}  // namespace
}  // namespace muster::launcher
