#include "console.hpp"

namespace muster::launcher {

void Console::close_line(std::string& out) {
  if (owner_ != nobody) out += '\n';
  owner_ = nobody;
  bar_ = held_ = false;
}

void Console::make_room(std::string& out) {
  if (terminal_ && bar_) {
    out += "\r\033[K";
    owner_ = nobody;
  }
  close_line(out);
}

void Console::show_lines(std::string_view prefix, std::string_view lines, std::string& out) {
  if (prefix.empty()) {
    out += lines;
    return;
  }
  while (!lines.empty()) {
    const auto size = lines.find('\n') + 1;
    out.append(prefix).append(lines.data(), size);
    lines.remove_prefix(size);
  }
}

void Console::show(int owner, std::string_view prefix, const Piece& piece, std::string& out) {
  const bool own = owner_ == owner;
  if (!own) {
    // The end of a line that was shown in parts and interrupted since: nothing is left to show.
    if (piece.continues && piece.ends_line && piece.text.empty()) return;
    make_room(out);
  }
  const bool bare_end = own && piece.text.empty();
  if (piece.redraws) out += '\r';
  if (!bare_end && (!own || piece.redraws)) out += prefix;
  out += piece.text;
  if (piece.ends_line) out += '\n';
  owner_ = piece.ends_line ? nobody : owner;
  bar_ = !piece.ends_line && (piece.redraws || (own && bar_));
  held_ = !piece.ends_line && piece.text.size() >= LineAssembler::longest;
}

}  // namespace muster::launcher
