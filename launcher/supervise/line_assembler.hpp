#pragma once

#include <string>
#include <string_view>

namespace muster::launcher {

/// A part of what a rank wrote that may be shown.
struct Piece {
  std::string_view text;   ///< Without its line end; a CR before the line end is part of it.
  bool redraws = false;    ///< A CR stands before it: it overwrites what was shown of the line.
  bool continues = false;  ///< Some of it was shown already.
  bool ends_line = false;  ///< A line end follows.
};

/// Cuts the bytes of one stream of one rank into lines, and lines at each CR: progress bars. Any
/// byte may come; none is lost.
class LineAssembler {
 public:
  /// A line that is longer is shown in parts.
  static constexpr std::size_t longest = std::size_t{64} * 1024;

  /// Calls show(const Piece&) for all that is complete. The pieces live only that long.
  template <class Show>
  void feed(std::string_view bytes, Show&& show) {
    while (!bytes.empty()) {
      const auto end = bytes.find('\n');
      if (end == std::string_view::npos) {
        pending_ += bytes;
        cut(pending_, false, show);
        if (pending_.size() > longest) flush(show);
        return;
      }
      if (pending_.empty()) {
        cut(bytes.substr(0, end), true, show);
      } else {
        pending_ += bytes.substr(0, end);
        cut(pending_, true, show);
      }
      bytes.remove_prefix(end + 1);
    }
  }

  /// Shows what is there of a line that may never end.
  template <class Show>
  void flush(Show&& show) {
    if (pending_.empty()) return;
    // A CR at the end belongs to what follows: a line end, or the next state of a bar.
    const bool held = pending_.back() == '\r';
    const std::string_view text(pending_.data(), pending_.size() - (held ? 1 : 0));
    if (!text.empty()) show(Piece{text, redraws_, continues_, false});
    continues_ = continues_ || !text.empty();
    redraws_ = held || (redraws_ && text.empty());
    pending_.clear();
  }

  /// Nothing is kept: what comes next begins a line.
  bool at_start() const noexcept { return pending_.empty() && !redraws_ && !continues_; }

  /// Whether flush() would show something.
  bool has_partial() const noexcept { return !pending_.empty() && pending_ != "\r"; }

 private:
  template <class Show>
  void cut(std::string_view line, bool ends_line, Show&& show) {
    std::size_t at = 0;
    for (auto cr = line.find('\r'); cr != std::string_view::npos && cr + 1 < line.size();
         cr = line.find('\r', at)) {
      if (cr > at) show(Piece{line.substr(at, cr - at), redraws_, continues_, false});
      continues_ = continues_ || cr > at;
      redraws_ = true;
      at = cr + 1;
    }
    if (!ends_line) {
      pending_.erase(0, at);
      return;
    }
    show(Piece{line.substr(at), redraws_, continues_, true});
    redraws_ = continues_ = false;
    pending_.clear();
  }

  std::string pending_;
  bool redraws_ = false;
  bool continues_ = false;
};

}  // namespace muster::launcher
