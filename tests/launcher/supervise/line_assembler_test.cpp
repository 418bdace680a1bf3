#include "supervise/line_assembler.hpp"

#include <catch2/catch_test_macros.hpp>

#include <random>
#include <string>
#include <vector>

namespace muster::launcher {
namespace {

/// Pieces as text: CR, what it continues, and line ends are spelled out.
std::string spelled(const Piece& piece) {
  return std::string(piece.redraws ? "<" : "") + (piece.continues ? "+" : "") +
         std::string(piece.text) + (piece.ends_line ? "|" : "");
}

struct Collector {
  LineAssembler lines;
  std::vector<std::string> pieces;

  void feed(std::string_view bytes) {
    lines.feed(bytes, [this](const Piece& piece) { pieces.push_back(spelled(piece)); });
  }
  void flush() {
    lines.flush([this](const Piece& piece) { pieces.push_back(spelled(piece)); });
  }
};

using Pieces = std::vector<std::string>;

TEST_CASE("lines are shown when they end") {
  Collector all;
  all.feed("one\ntw");
  CHECK(all.pieces == Pieces{"one|"});
  CHECK(all.lines.has_partial());
  all.feed("o\n\nthree");
  CHECK(all.pieces == Pieces{"one|", "two|", "|"});
  all.flush();
  CHECK(all.pieces.back() == "three");
  CHECK_FALSE(all.lines.has_partial());
  all.feed("!\n");
  CHECK(all.pieces.back() == "+!|");
}

TEST_CASE("a carriage return cuts a line, once what follows is there") {
  Collector all;
  all.feed("\r 10%");
  CHECK(all.pieces.empty());
  all.feed("\r 20%\r 30%");
  CHECK(all.pieces == Pieces{"< 10%", "<+ 20%"});
  all.feed("\ndone\n");
  CHECK(all.pieces == Pieces{"< 10%", "<+ 20%", "<+ 30%|", "done|"});
}

TEST_CASE("bars that end in a carriage return are shown in time, and keep it") {
  Collector all;
  all.feed("10%\r");
  CHECK(all.lines.has_partial());
  all.flush();
  CHECK(all.pieces == Pieces{"10%"});
  all.feed("20%\r");
  all.flush();
  CHECK(all.pieces == Pieces{"10%", "<+20%"});
  all.feed("\n");
  CHECK(all.pieces.back() == "<+|");
}

TEST_CASE("a line end of CR and LF stays one") {
  Collector all;
  all.feed("dos\r");
  CHECK(all.pieces.empty());
  all.feed("\nnext\r\n");
  CHECK(all.pieces == Pieces{"dos\r|", "next\r|"});
}

TEST_CASE("a long line is shown in parts, and none of it is lost") {
  const std::string text(LineAssembler::longest * 3 + 17, 'x');
  Collector all;
  for (std::size_t at = 0; at < text.size(); at += 1000) all.feed(text.substr(at, 1000));
  all.feed("\n");
  std::string joined;
  for (const std::string& piece : all.pieces) joined += piece[0] == '+' ? piece.substr(1) : piece;
  CHECK(all.pieces.size() == 3);
  CHECK(joined == text + "|");
}

TEST_CASE("any bytes in any portions come out as they went in") {
  std::mt19937 random(7);
  const std::string alphabet("ab\n\0\xff\xc3", 6);
  std::string text, joined;
  LineAssembler lines;
  const auto join = [&joined](const Piece& piece) {
    joined += std::string(piece.text) + (piece.ends_line ? "\n" : "");
  };
  for (int i = 0; i < 2000; ++i) {
    std::string portion;
    for (auto n = random() % 20; n > 0; --n) portion += alphabet[random() % alphabet.size()];
    text += portion;
    lines.feed(portion, join);
    if (random() % 10 == 0) lines.flush(join);
  }
  lines.flush(join);
  CHECK(joined == text);
}

}  // namespace
}  // namespace muster::launcher
