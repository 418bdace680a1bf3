#include <muster/progress.hpp>

#include "progress_line.hpp"

#include <catch2/catch_test_macros.hpp>

#include <array>
#include <chrono>
#include <cstdlib>
#include <fcntl.h>
#include <optional>
#include <string>
#include <sys/ioctl.h>
#include <thread>
#include <unistd.h>

namespace muster::test {
namespace {

constexpr ProgressStyle log_style{.bar = false, .width = 0};

/// Sets a variable, and puts the old value back.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = before;
    setenv(name, value, 1);
  }
  ~Variable() {
    if (before_) {
      setenv(name_, before_->c_str(), 1);
    } else {
      unsetenv(name_);
    }
  }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
  std::optional<std::string> before_;
};

/// Two ends of a line: what is written to `in` comes out of all().
class Line {
 public:
  int in = -1;

  static Line pipe() {
    std::array<int, 2> ends{};
    REQUIRE(::pipe2(ends.data(), O_CLOEXEC) == 0);
    return {ends[1], ends[0]};
  }
  static Line terminal(unsigned short columns) {
    const int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    REQUIRE(master >= 0);
    REQUIRE((grantpt(master) == 0 && unlockpt(master) == 0));
    const int slave = open(ptsname(master), O_RDWR | O_NOCTTY | O_CLOEXEC);
    const winsize size{.ws_row = 24, .ws_col = columns, .ws_xpixel = 0, .ws_ypixel = 0};
    REQUIRE(ioctl(slave, TIOCSWINSZ, &size) == 0);
    return {slave, master};
  }
  ~Line() {
    close(in);
    close(out_);
  }
  Line(const Line&) = delete;
  Line& operator=(const Line&) = delete;

  /// All that was written so far.
  std::string all() const {
    fcntl(out_, F_SETFL, O_NONBLOCK);
    std::string text;
    std::array<char, 65536> buffer{};
    while (true) {
      const ssize_t got = read(out_, buffer.data(), buffer.size());
      if (got <= 0) return text;
      text.append(buffer.data(), static_cast<std::size_t>(got));
    }
  }

 private:
  Line(int input, int output) : in(input), out_(output) {}
  int out_;
};

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++found;
  }
  return found;
}

}  // namespace

TEST_CASE("numbers with three digits and an SI prefix") {
  CHECK(si_number(0) == "0.00");
  CHECK(si_number(0.5) == "0.50");
  CHECK(si_number(9.994) == "9.99");
  CHECK(si_number(9.996) == "10.0");
  CHECK(si_number(99.96) == "100");
  CHECK(si_number(999.4) == "999");
  CHECK(si_number(999.6) == "1.00 k");
  CHECK(si_number(31234) == "31.2 k");
  CHECK(si_number(1.5e9) == "1.50 G");
  CHECK(si_number(2e18) == "2000 P");
}

TEST_CASE("durations") {
  CHECK(duration_text(0) == "0:00");
  CHECK(duration_text(3.2) == "0:04");
  CHECK(duration_text(750) == "12:30");
  CHECK(duration_text(3723) == "1:02:03");
  CHECK(duration_text(360'000) == "100:00:00");
}

TEST_CASE("the line that stays") {
  const ProgressView view{.title = "epoch 1/5",
                          .done = 23,
                          .total = 23,
                          .samples = 1440,
                          .seconds = 0.04615,
                          .unit = "images",
                          .note = "loss 0.412  accuracy 0.893",
                          .finished = true};
  CHECK(progress_line(view, {.width = 100}) ==
        "epoch 1/5  ████████████████████ 23/23  31.2 k images/s  loss 0.412  accuracy 0.893");
  CHECK(progress_line(view, {.utf8 = false, .width = 100}) ==
        "epoch 1/5  #################### 23/23  31.2 k images/s  loss 0.412  accuracy 0.893");
  CHECK(progress_line(view, log_style) ==
        "epoch 1/5  23/23  31.2 k images/s  loss 0.412  accuracy 0.893");
}

TEST_CASE("a line on the way tells what remains") {
  ProgressView view{.title = "epoch 2/5", .done = 7, .total = 23, .samples = 448, .seconds = 7};
  CHECK(progress_line(view, {}) ==
        "epoch 2/5  ██████               7/23  64.0 samples/s  0:16 left");
  CHECK(progress_line(view, {.utf8 = false}) ==
        "epoch 2/5  ######.............. 7/23  64.0 samples/s  0:16 left");
  CHECK(progress_line(view, {.colour = true}).starts_with("epoch 2/5  \x1b[36m█"));
  view.samples = 0;
  CHECK(progress_line(view, log_style) == "epoch 2/5  7/23  1.00 steps/s  0:16 left");
  view.done = 0;
  CHECK(progress_line(view, log_style) == "epoch 2/5  0/23");
  view.done = 8;
  CHECK(progress_line(view, {}).starts_with("epoch 2/5  ██████▉              8/23"));
}

TEST_CASE("without a total there is no bar and nothing remains") {
  const ProgressView view{.title = "reading", .done = 5, .samples = 10, .seconds = 2};
  CHECK(progress_line(view, {}) == "reading  5  5.00 samples/s");
}

TEST_CASE("a line is no wider than it may be") {
  const ProgressView view{.title = "épochs",
                          .done = 50,
                          .total = 100,
                          .samples = 5,
                          .seconds = 1,
                          .note = "loss 0.412\nnext"};
  for (int width = 1; width < 100; ++width) {
    CAPTURE(width);
    const std::string line = progress_line(view, {.width = width});
    CHECK(text_columns(line) <= width);
    CHECK(line.find('\n') == std::string::npos);
  }
  CHECK(progress_line(view, {.width = 8}) == "épochs  ");
  CHECK(progress_line(view, {.width = 70}).find("loss 0.412 next") != std::string::npos);
}

TEST_CASE("in a log: of a short loop the last state only") {
  const Line line = Line::pipe();
  Progress bar("epoch 1/1", 100, {.unit = "images", .descriptor = line.in});
  for (int i = 1; i <= 99; ++i) bar.update(i, 10 * i, "loss " + std::to_string(i));
  CHECK(line.all().empty());
  bar.update(100, 1000, "loss 100");
  bar.finish();
  bar.update(7);
  const std::string last = line.all();
  CHECK(last.starts_with("epoch 1/1  100/100"));
  CHECK(last.ends_with("images/s  loss 100\n"));
  CHECK(count(last, "\n") == 1);
}

TEST_CASE("a disabled bar writes nothing") {
  const Line line = Line::pipe();
  {
    Progress bar("epoch", 3, {.enabled = false, .descriptor = line.in});
    bar.update(1, 1);
    bar.finish("done");
  }
  CHECK(line.all().empty());
}

TEST_CASE("on a terminal one line is drawn anew, not too often") {
  const Variable term("TERM", "xterm");
  const Variable locale("LC_ALL", "C.UTF-8");
  const Variable no_colour("NO_COLOR", "");
  const Line line = Line::terminal(60);
  {
    const auto start = std::chrono::steady_clock::now();
    Progress bar("epoch 1/1", 1000, {.descriptor = line.in});
    for (int i = 1; i <= 1000; ++i) bar.update(i, i);
    const auto spent = std::chrono::steady_clock::now() - start;
    const std::string drawn = line.all();
    CHECK(count(drawn, "\r") <=
          1 + static_cast<std::size_t>(spent / std::chrono::milliseconds(100)));
    CHECK(count(drawn, "\n") == 0);
    bar.finish("loss 0.5");
  }
  const std::string last = line.all();
  CHECK(last.starts_with("\repoch 1/1  \x1b[36m████"));
  CHECK(last.ends_with("loss 0.5\x1b[K\r\n"));
}

TEST_CASE("NO_COLOR, another locale and a dumb terminal are obeyed") {
  const Line line = Line::terminal(70);
  const auto drawn = [&] {
    Progress bar("epoch", 2, {.descriptor = line.in});
    bar.update(1);
    bar.finish();
    return line.all();
  };
  const Variable term("TERM", "xterm");
  const Variable locale("LC_ALL", "C");
  const Variable no_colour("NO_COLOR", "1");
  CHECK(drawn().find("\x1b[36m") == std::string::npos);
  CHECK(drawn().find("####") != std::string::npos);
  const Variable dumb("TERM", "dumb");
  CHECK(drawn().find('\x1b') == std::string::npos);
}

TEST_CASE("a bar that is left by an exception leaves the cursor on a new line") {
  const Variable term("TERM", "xterm");
  const Line line = Line::terminal(60);
  { const Progress bar("epoch", 2, {.descriptor = line.in}); }
  CHECK(line.all().ends_with("\r\n"));
}

TEST_CASE("a bar that another one replaces leaves the cursor on a new line at once") {
  const Variable term("TERM", "xterm");
  const Line line = Line::terminal(80);
  Progress bar("first", 10, {.descriptor = line.in});
  Progress other("second", 10, {.descriptor = line.in});
  (void)line.all();
  bar = std::move(other);
  CHECK(line.all() == "\r\n");
  bar.finish();
  CHECK(count(line.all(), "second") == 1);
}

TEST_CASE("a bar can be moved, and nobody reading is no error") {
  const Line line = Line::pipe();
  Progress bar("one", 1, {.descriptor = line.in});
  Progress moved = std::move(bar);
  moved.update(1);
  moved.finish();
  CHECK(line.all().starts_with("one  1/1"));
  Progress closed("two", 1, {.descriptor = -1});
  closed.update(1);
  closed.finish();
}

}  // namespace muster::test
