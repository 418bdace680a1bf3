#pragma once

#include "import/document.hpp"

#include <string>
#include <vector>

namespace muster::launcher {

/// Makes a DocumentNode out of the events of a parser. Each function is false for what is nested
/// deeper, or is more, than any file that is meant.
class NodeBuilder {
 public:
  bool open(DocumentNode::Kind kind, int line);
  bool close();
  bool add(DocumentNode node);
  void key(std::string name, int line);
  bool wants_key() const;

  /// Once all is closed.
  DocumentNode take() { return std::move(root_); }
  /// What was closed or added last; until the next call.
  const DocumentNode& last() const { return *last_; }

 private:
  struct Level {
    DocumentNode node;
    std::string key;
    int line = 0;
    bool has_key = false;
  };

  void attach(DocumentNode node);

  std::vector<Level> open_;
  DocumentNode root_;
  const DocumentNode* last_ = &root_;
  std::size_t count_ = 0;
};

}  // namespace muster::launcher
