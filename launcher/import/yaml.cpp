#include <muster/error.hpp>

#include "import/document.hpp"
#include "import/node_builder.hpp"

#include <fmt/core.h>

#include <map>
#include <yaml.h>

namespace muster::launcher {
namespace {

std::string string_of(const yaml_char_t* text) {
  return text == nullptr ? "" : reinterpret_cast<const char*>(text);
}

class Event {
 public:
  Event() = default;
  ~Event() { yaml_event_delete(&event); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  int line() const { return static_cast<int>(event.start_mark.line) + 1; }

  yaml_event_t event{};
};

/// libyaml's events made into nodes.
class YamlReader {
 public:
  YamlReader(std::string_view text, const std::string& name) : name_(name) {
    if (yaml_parser_initialize(&parser_) == 0) throw Error("no memory for a YAML parser");
    yaml_parser_set_encoding(&parser_, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(text.data()),
                                 text.size());
  }
  ~YamlReader() { yaml_parser_delete(&parser_); }
  YamlReader(const YamlReader&) = delete;
  YamlReader& operator=(const YamlReader&) = delete;

  DocumentNode read() {
    while (true) {
      Event event;
      if (yaml_parser_parse(&parser_, &event.event) == 0) fail_to_parse();
      if (event.event.type == YAML_STREAM_END_EVENT) return builder_.take();
      if (!take(event)) {
        fail(event.line(), "nested too deep, or far more than such a file holds");
      }
    }
  }

 private:
  [[noreturn]] void fail(int line, const std::string& what) const {
    throw ConfigError(fmt::format("{}:{}: {}", name_, line, what));
  }

  [[noreturn]] void fail_to_parse() const {
    const auto line = static_cast<int>(parser_.problem_mark.line) + 1;
    fail(line, fmt::format("not YAML: {}", parser_.problem == nullptr ? "" : parser_.problem));
  }

  bool take(const Event& event) {
    const auto& data = event.event.data;
    switch (event.event.type) {
      case YAML_DOCUMENT_START_EVENT:
        if (++documents_ > 1) fail(event.line(), "a second document; one is expected");
        return true;
      case YAML_SCALAR_EVENT:
        return scalar(event);
      case YAML_ALIAS_EVENT:
        return alias(event);
      case YAML_SEQUENCE_START_EVENT:
        return open(DocumentNode::Kind::list, data.sequence_start.anchor, event);
      case YAML_MAPPING_START_EVENT:
        return open(DocumentNode::Kind::map, data.mapping_start.anchor, event);
      case YAML_SEQUENCE_END_EVENT:
      case YAML_MAPPING_END_EVENT:
        return close();
      case YAML_NO_EVENT:
      case YAML_STREAM_START_EVENT:
      case YAML_STREAM_END_EVENT:
      case YAML_DOCUMENT_END_EVENT:
        return true;
    }
    return true;
  }

  bool open(DocumentNode::Kind kind, const yaml_char_t* anchor, const Event& event) {
    if (builder_.wants_key()) fail(event.line(), "a name is expected, not a list or map");
    anchors_open_.push_back(string_of(anchor));
    return builder_.open(kind, event.line());
  }

  bool close() {
    const bool good = builder_.close();
    if (good && !anchors_open_.back().empty()) anchors_[anchors_open_.back()] = builder_.last();
    anchors_open_.pop_back();
    return good;
  }

  bool scalar(const Event& event) {
    const auto& scalar = event.event.data.scalar;
    DocumentNode node;
    node.line = event.line();
    node.text.assign(reinterpret_cast<const char*>(scalar.value), scalar.length);
    node.kind = scalar.style == YAML_PLAIN_SCALAR_STYLE ? DocumentNode::Kind::word
                                                        : DocumentNode::Kind::text;
    if (builder_.wants_key()) {
      builder_.key(node.text, node.line);
      return true;
    }
    if (const auto anchor = string_of(scalar.anchor); !anchor.empty()) anchors_[anchor] = node;
    return builder_.add(std::move(node));
  }

  bool alias(const Event& event) {
    const auto name = string_of(event.event.data.alias.anchor);
    const auto found = anchors_.find(name);
    if (found == anchors_.end()) fail(event.line(), "nothing is called &" + name);
    if (builder_.wants_key()) fail(event.line(), "a name is expected, not *" + name);
    return builder_.add(found->second);
  }

  std::string name_;
  yaml_parser_t parser_{};
  NodeBuilder builder_;
  int documents_ = 0;
  std::map<std::string, DocumentNode> anchors_;
  std::vector<std::string> anchors_open_;
};

}  // namespace

DocumentNode parse_yaml(std::string_view text, const std::string& name) {
  return YamlReader(text, name).read();
}

}  // namespace muster::launcher
