#include "import/document.hpp"

#include "text.hpp"

#include <algorithm>
#include <array>

namespace muster::launcher {
namespace {

std::string lower(std::string_view text) {
  std::string word(text);
  std::transform(word.begin(), word.end(), word.begin(), [](char letter) {
    return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
  });
  return word;
}

template <class Words>
bool contains(const Words& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

std::string joined(const std::vector<std::string>& parts) {
  std::string text;
  for (const auto& part : parts) text += (text.empty() ? "" : ", ") + part;
  return text;
}

}  // namespace

bool DocumentNode::is_empty() const {
  constexpr std::array<std::string_view, 3> nothing{"", "~", "null"};
  if (kind == Kind::word) return contains(nothing, lower(text));
  if (kind == Kind::text) return text.empty();
  return items.empty() && members.empty();
}

std::optional<bool> DocumentNode::as_bool() const {
  constexpr std::array<std::string_view, 3> yes{"true", "yes", "on"}, no{"false", "no", "off"};
  if (kind == Kind::list || kind == Kind::map) return std::nullopt;
  const auto word = lower(text);
  if (contains(yes, word)) return true;
  return contains(no, word) ? std::optional(false) : std::nullopt;
}

std::string DocumentNode::shown() const {
  constexpr std::size_t longest = 60;
  std::vector<std::string> parts;
  for (const auto& item : items) parts.push_back(item.shown());
  for (const auto& [name, value] : members) parts.push_back(name + ": " + value.shown());
  auto all = kind == Kind::list  ? "[" + joined(parts) + "]"
             : kind == Kind::map ? "{" + joined(parts) + "}"
                                 : text;
  std::replace_if(
      all.begin(), all.end(), [](char c) { return static_cast<unsigned char>(c) < ' '; }, ' ');
  return all.size() > longest ? all.substr(0, longest) + "..." : all;
}

const DocumentNode* DocumentNode::find(std::string_view name) const {
  const auto found = std::find_if(members.begin(), members.end(),
                                  [&](const Member& member) { return member.name == name; });
  return found == members.end() ? nullptr : &found->value;
}

}  // namespace muster::launcher
