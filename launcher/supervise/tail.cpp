#include "tail.hpp"

#include <algorithm>
#include <cstring>

namespace muster::launcher {

void Tail::append(std::string_view part) {
  const auto text_end = part.find_last_not_of('\r');
  if (text_end == std::string_view::npos) {
    overwrite_ = overwrite_ || !part.empty();
    return;
  }
  const auto cr = part.rfind('\r', text_end);
  const auto start = cr == std::string_view::npos ? 0 : cr + 1;
  if (overwrite_ || start > 0) open_.text.clear();
  overwrite_ = text_end + 1 < part.size();
  const auto room = longest_line - std::min(longest_line, open_.text.size());
  open_.text += part.substr(start, std::min(room, text_end + 1 - start));
}

std::string_view Tail::skip_old(std::string_view bytes) {
  auto end = bytes.size();
  for (std::size_t lines = 0; lines <= kept; ++lines) {
    const void* const at = ::memrchr(bytes.data(), '\n', end);
    if (at == nullptr) return bytes;
    end = static_cast<std::size_t>(static_cast<const char*>(at) - bytes.data());
  }
  open_.text.clear();
  overwrite_ = false;
  return bytes.substr(end + 1);
}

void Tail::feed(std::string_view bytes, std::int64_t monotonic_ns) {
  bytes = skip_old(bytes);
  while (!bytes.empty()) {
    const auto end = bytes.find('\n');
    append(bytes.substr(0, end));
    open_.monotonic_ns = monotonic_ns;
    if (end == std::string_view::npos) return;
    // By copying, so that the texts keep their memory.
    ring_[count_++ % kept] = open_;
    open_.text.clear();
    overwrite_ = false;
    bytes.remove_prefix(end + 1);
  }
}

std::vector<Tail::Line> Tail::lines() const {
  std::vector<Line> all;
  for (std::size_t i = count_ - std::min(count_, kept); i < count_; ++i)
    all.push_back(ring_[i % kept]);
  if (!open_.text.empty()) all.push_back(open_);
  return all;
}

std::vector<std::string> Tail::last_lines() const {
  const auto all = lines();
  std::vector<std::string> texts;
  for (std::size_t i = all.size() - std::min(all.size(), shown); i < all.size(); ++i)
    texts.push_back(all[i].text);
  return texts;
}

}  // namespace muster::launcher
