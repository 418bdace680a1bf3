#include <muster/error.hpp>

#include "import/document.hpp"
#include "import/node_builder.hpp"
#include "screen/printable.hpp"

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <iterator>

namespace muster::launcher {
namespace {

using Json = nlohmann::json;

/// Letters of a text that count the lines as they are read.
class Letters {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  Letters(const char* at, int* lines) : at_(at), lines_(lines) {}
  reference operator*() const { return *at_; }
  Letters& operator++() {
    if (*at_ == '\n') ++*lines_;
    ++at_;
    return *this;
  }
  Letters operator++(int) {
    auto before = *this;
    ++*this;
    return before;
  }
  bool operator==(const Letters& other) const { return at_ == other.at_; }

 private:
  const char* at_;
  int* lines_;
};

/// The parser's events made into nodes; it stops where one returns false.
class JsonReader : public nlohmann::json_sax<Json> {
 public:
  explicit JsonReader(const int& line) : line_(line) {}

  bool null() override { return word("null"); }
  bool boolean(bool value) override { return word(value ? "true" : "false"); }
  bool number_integer(number_integer_t value) override { return word(std::to_string(value)); }
  bool number_unsigned(number_unsigned_t value) override { return word(std::to_string(value)); }
  bool number_float(number_float_t, const string_t& text) override { return word(text); }
  bool string(string_t& text) override {
    return builder_.add(node(DocumentNode::Kind::text, text));
  }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override { return builder_.open(DocumentNode::Kind::map, line_); }
  bool key(string_t& name) override {
    builder_.key(name, line_);
    return true;
  }
  bool end_object() override { return builder_.close(); }
  bool start_array(std::size_t) override { return builder_.open(DocumentNode::Kind::list, line_); }
  bool end_array() override { return builder_.close(); }
  bool parse_error(std::size_t, const std::string& token, const Json::exception&) override {
    fault_ = "not JSON at '" + token.substr(token.size() > 40 ? token.size() - 40 : 0) + "'";
    return false;
  }

  DocumentNode take() { return builder_.take(); }
  const std::string& fault() const { return fault_; }

 private:
  DocumentNode node(DocumentNode::Kind kind, const std::string& text) const {
    DocumentNode made;
    made.kind = kind;
    made.text = text;
    made.line = line_;
    return made;
  }
  bool word(const std::string& text) { return builder_.add(node(DocumentNode::Kind::word, text)); }

  const int& line_;
  NodeBuilder builder_;
  std::string fault_ = "nested too deep, or far more than such a file holds";
};

}  // namespace

DocumentNode parse_json(std::string_view text, const std::string& name) {
  int line = 1;
  JsonReader reader(line);
  const auto* const end = text.data() + text.size();
  constexpr bool whole = true, comments = true;
  if (Json::sax_parse(Letters(text.data(), &line), Letters(end, &line), &reader,
                      Json::input_format_t::json, whole, comments)) {
    return reader.take();
  }
  throw ConfigError(fmt::format("{}:{}: {}", name, line, printable(reader.fault(), 200)));
}

}  // namespace muster::launcher
