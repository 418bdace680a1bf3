#include "toml_layout.hpp"

#include <muster/error.hpp>

#include "toml.hpp"

#include <algorithm>

namespace muster {
namespace {

constexpr std::string_view blanks = " \t";
constexpr std::string_view blanks_and_ends = " \t\r\n";

/// One walk over the text. toml++ knows where a node begins, in letters, but not where its comma
/// and comment are; and it has seen to it that there is nothing here to refuse.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  TomlLayout run() {
    if (text_.starts_with("\xef\xbb\xbf")) at_ = 3;
    while (skip_to_statement()) {
      if (peek() == '[') {
        header();
      } else {
        entry({header_path_, current_header_, std::nullopt});
      }
    }
    return std::move(layout_);
  }

 private:
  /// What an entry stands in.
  struct Place {
    TomlPath path;
    std::optional<std::size_t> header, inside;
  };

  [[noreturn]] void fail() const {
    throw Error("the text at byte " + std::to_string(at_ + 1) + " is not understood as TOML");
  }

  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool next_is(std::string_view word) const { return text_.substr(at_).starts_with(word); }
  void expect(char letter) {
    if (at_ >= text_.size() || text_[at_] != letter) fail();
    ++at_;
  }
  void skip(std::string_view letters) {
    at_ = std::min(text_.find_first_not_of(letters, at_), text_.size());
  }
  void skip_line() { at_ = std::min(text_.find('\n', at_), text_.size() - 1) + 1; }

  /// Blanks, line ends and comments.
  void skip_gap() {
    for (skip(blanks_and_ends); peek() == '#'; skip(blanks_and_ends)) skip_line();
  }

  bool skip_to_statement() {
    skip_gap();
    return at_ < text_.size();
  }

  void header() {
    const auto line = text_.rfind('\n', at_);
    TomlHeader found;
    found.begin = line == text_.npos ? 0 : line + 1;
    found.array = next_is("[[");
    at_ += found.array ? 2 : 1;
    found.path = key();
    expect(']');
    if (found.array) {
      expect(']');
      arrays_.push_back(found.path);
    }
    skip_line();
    found.end = at_;
    found.array = found.array || is_in_array(found.path);
    header_path_ = found.path;
    current_header_ = layout_.headers.size();
    layout_.headers.push_back(std::move(found));
  }

  bool is_in_array(const TomlPath& path) const {
    return std::any_of(arrays_.begin(), arrays_.end(),
                       [&](const auto& array) { return starts_with(path, array); });
  }

  void entry(const Place& place) {
    TomlEntry found;
    found.begin = at_;
    found.base = place.path.size();
    found.path = place.path;
    for (auto& part : key()) found.path.push_back(std::move(part));
    expect('=');
    skip(blanks);
    found.value = at_;
    found.inside = place.inside;
    found.header = place.header;
    found.in_array = is_in_array(place.path);
    found.inline_table = peek() == '{';
    const auto index = layout_.entries.size();
    layout_.entries.push_back(found);
    if (found.inline_table) {
      inline_table({found.path, place.header, index});
    } else {
      value();
    }
    layout_.entries[index].end = at_;
  }

  void inline_table(const Place& place) {
    expect('{');
    for (skip_gap(); peek() != '}'; skip_gap()) {
      entry(place);
      skip_gap();
      if (peek() != ',') break;
      ++at_;
    }
    expect('}');
  }

  /// The parts of a key, with the blanks behind it.
  TomlPath key() {
    TomlPath parts;
    while (true) {
      skip(blanks);
      const auto begin = at_;
      if (peek() == '"' || peek() == '\'') {
        string();
        parts.push_back(unquoted(text_.substr(begin, at_ - begin)));
      } else {
        at_ = std::min(text_.find_first_of(".=] \t\r\n", at_), text_.size());
        if (at_ == begin) fail();
        parts.emplace_back(text_.substr(begin, at_ - begin));
      }
      skip(blanks);
      if (peek() != '.') return parts;
      ++at_;
    }
  }

  std::string unquoted(std::string_view quoted) const {
    if (quoted.find('\\') == quoted.npos) return std::string(quoted.substr(1, quoted.size() - 2));
    const auto parsed = toml::parse(std::string(quoted) + " = 0");
    if (!parsed || parsed.table().empty()) fail();
    return std::string(parsed.table().begin()->first.str());
  }

  void value() {
    if (peek() == '"' || peek() == '\'') {
      string();
    } else if (peek() == '[') {
      array();
    } else if (peek() == '{') {  // In an array: of no interest.
      anonymous_table();
    } else {
      const auto begin = at_;
      at_ = std::min(text_.find_first_of(",]}#\r\n", at_), text_.size());
      while (at_ > begin && blanks.find(text_[at_ - 1]) != blanks.npos) --at_;
      if (at_ == begin) fail();
    }
  }

  void array() {
    expect('[');
    for (skip_gap(); peek() != ']'; skip_gap()) {
      value();
      skip_gap();
      if (peek() != ',') break;
      ++at_;
    }
    expect(']');
  }

  void anonymous_table() {
    expect('{');
    for (skip_gap(); peek() != '}'; skip_gap()) {
      key();
      expect('=');
      skip(blanks);
      value();
      skip_gap();
      if (peek() != ',') break;
      ++at_;
    }
    expect('}');
  }

  void string() {
    const char quote = peek();
    const std::string triple(3, quote);
    const bool long_one = next_is(triple);
    at_ += long_one ? 3 : 1;
    while (!next_is(long_one ? std::string_view(triple) : std::string_view(&quote, 1))) {
      if (at_ >= text_.size()) fail();
      const bool escape = quote == '"' && text_[at_] == '\\';
      at_ += escape ? 2U : 1U;
    }
    at_ += long_one ? 3 : 1;
    // The last quotes of the text itself stand before the three that end it.
    for (int extra = 0; long_one && extra < 2 && peek() == quote; ++extra) ++at_;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  TomlLayout layout_;
  TomlPath header_path_;
  std::optional<std::size_t> current_header_;
  std::vector<TomlPath> arrays_;
};

}  // namespace

bool starts_with(const TomlPath& path, const TomlPath& prefix) {
  return path.size() >= prefix.size() && std::equal(prefix.begin(), prefix.end(), path.begin());
}

TomlLayout layout_of(std::string_view text) { return Scanner(text).run(); }

}  // namespace muster
