#pragma once

#include "import/document.hpp"

#include <string>
#include <vector>

namespace muster::launcher {

/// Makes a Node out of the events of a parser. Each function is false for what is nested deeper, or
/// is more, than any file that is meant.
class NodeBuilder {
 public:
  bool open(Node::Kind kind, int line);
  bool close();
  bool add(Node node);
  void key(std::string name, int line);
  bool wants_key() const;

  /// Once all is closed.
  Node take() { return std::move(root_); }
  /// What was closed or added last; until the next call.
  const Node& last() const { return *last_; }

 private:
  struct Level {
    Node node;
    std::string key;
    int line = 0;
    bool has_key = false;
  };

  void attach(Node node);

  std::vector<Level> open_;
  Node root_;
  const Node* last_ = &root_;
  std::size_t count_ = 0;
};

}  // namespace muster::launcher
