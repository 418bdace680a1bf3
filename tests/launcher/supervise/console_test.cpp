#include "supervise/console.hpp"

#include <catch2/catch_test_macros.hpp>

namespace muster::launcher {
namespace {

/// A console on which rank N, with the prefix "[N] ", is owner N.
struct Screen {
  explicit Screen(bool terminal) : console(terminal) {}

  void show(int rank, const Piece& piece) {
    console.show(rank, "[" + std::to_string(rank) + "] ", piece, out);
  }
  void line(int rank, std::string_view text) { show(rank, {.text = text, .ends_line = true}); }

  Console console;
  std::string out;
};

TEST_CASE("every line has the prefix of its rank") {
  Screen screen(false);
  screen.line(0, "one");
  screen.line(1, "");
  screen.line(0, "two");
  CHECK(screen.out == "[0] one\n[1] \n[0] two\n");
}

TEST_CASE("whole lines at once are the same as one by one") {
  Screen one_by_one(false);
  for (const char* line : {"one", "", "two"}) one_by_one.line(0, line);
  std::string out;
  Console::show_lines("[0] ", "one\n\ntwo\n", out);
  CHECK(out == one_by_one.out);
  Console::show_lines("", "three\n", out);
  CHECK(out == one_by_one.out + "three\n");
  CHECK(one_by_one.console.free());
  one_by_one.show(0, {.text = "open"});
  CHECK_FALSE(one_by_one.console.free());
}

TEST_CASE("a line that was begun goes on without a second prefix") {
  Screen screen(false);
  screen.show(0, {.text = "Name? "});
  screen.show(0, {.text = "Ann", .continues = true, .ends_line = true});
  CHECK(screen.out == "[0] Name? Ann\n");
}

TEST_CASE("another rank's line ends a line that was begun") {
  Screen screen(false);
  screen.show(0, {.text = "working"});
  screen.line(1, "hello");
  SECTION("its rest gets a prefix of its own") {
    screen.show(0, {.text = "done", .continues = true, .ends_line = true});
    CHECK(screen.out == "[0] working\n[1] hello\n[0] done\n");
  }
  SECTION("an end without a rest needs no line") {
    screen.show(0, {.text = "", .continues = true, .ends_line = true});
    CHECK(screen.out == "[0] working\n[1] hello\n");
  }
}

TEST_CASE("a bar keeps its prefix") {
  Screen screen(false);
  screen.show(0, {.text = " 1%"});
  screen.show(0, {.text = " 2%", .redraws = true, .continues = true});
  screen.show(0, {.text = "", .redraws = true, .continues = true, .ends_line = true});
  CHECK(screen.out == "[0]  1%\r[0]  2%\r\n");
}

TEST_CASE("on a terminal bars give way") {
  Screen screen(true);
  screen.show(0, {.text = "1%", .redraws = true});
  screen.line(1, "hello");
  screen.show(0, {.text = "2%", .redraws = true, .continues = true});
  screen.show(1, {.text = "5%", .redraws = true});
  CHECK(screen.out == "\r[0] 1%\r\033[K[1] hello\n\r[0] 2%\r\033[K\r[1] 5%");
  screen.console.close_line(screen.out);
  CHECK(screen.out.back() == '\n');
  const auto size = screen.out.size();
  screen.console.close_line(screen.out);
  CHECK(screen.out.size() == size);
}

TEST_CASE("a long line holds the others back until it ends") {
  Screen screen(false);
  const std::string part(LineAssembler::longest, 'x');
  screen.show(0, {.text = part});
  CHECK(screen.console.held_from(1));
  CHECK_FALSE(screen.console.held_from(0));
  CHECK(screen.console.held_by(0));
  screen.show(0, {.text = "end", .continues = true, .ends_line = true});
  CHECK_FALSE(screen.console.held_from(1));
}

}  // namespace
}  // namespace muster::launcher
