#include "import/node_builder.hpp"

#include <algorithm>

namespace muster::launcher {
namespace {

constexpr std::size_t deepest = 64;
constexpr std::size_t most = 10000;  // Also keeps the search for a name short.

std::size_t size_of(const DocumentNode& node) {
  std::size_t count = 1;
  for (const auto& item : node.items) count += size_of(item);
  for (const auto& member : node.members) count += size_of(member.value);
  return count;
}

std::size_t depth_of(const DocumentNode& node) {
  std::size_t depth = 0;
  for (const auto& item : node.items) depth = std::max(depth, depth_of(item));
  for (const auto& member : node.members) depth = std::max(depth, depth_of(member.value));
  return depth + 1;
}

}  // namespace

bool NodeBuilder::wants_key() const {
  return !open_.empty() && open_.back().node.kind == DocumentNode::Kind::map &&
         !open_.back().has_key;
}

void NodeBuilder::key(std::string name, int line) {
  open_.back().key = std::move(name);
  open_.back().line = line;
  open_.back().has_key = true;
}

bool NodeBuilder::open(DocumentNode::Kind kind, int line) {
  if (open_.size() == deepest || ++count_ > most) return false;
  Level level;
  level.node.kind = kind;
  level.node.line = line;
  open_.push_back(std::move(level));
  return true;
}

bool NodeBuilder::close() {
  if (open_.empty()) return false;
  auto node = std::move(open_.back().node);
  open_.pop_back();
  attach(std::move(node));
  return true;
}

bool NodeBuilder::add(DocumentNode node) {
  count_ += size_of(node);
  if (count_ > most || open_.size() + depth_of(node) > deepest) return false;
  attach(std::move(node));
  return true;
}

void NodeBuilder::attach(DocumentNode node) {
  if (open_.empty()) {
    root_ = std::move(node);
    last_ = &root_;
    return;
  }
  auto& level = open_.back();
  if (level.node.kind == DocumentNode::Kind::list) {
    level.node.items.push_back(std::move(node));
    last_ = &level.node.items.back();
    return;
  }
  node.line = level.line;  // A member is where its name is.
  level.has_key = false;
  auto& members = level.node.members;
  const auto same = std::find_if(members.begin(), members.end(),
                                 [&](const auto& member) { return member.name == level.key; });
  if (same != members.end()) members.erase(same);
  members.push_back({std::move(level.key), std::move(node)});
  last_ = &members.back().value;
}

}  // namespace muster::launcher
