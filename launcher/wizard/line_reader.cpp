#include "wizard/line_reader.hpp"

#include <muster/error.hpp>

#include "text.hpp"

#include <cerrno>
#include <cstring>
#include <unistd.h>
#include <utility>

namespace muster::launcher {
namespace {

constexpr std::size_t longest_line = 65536;

}  // namespace

bool LineReader::fill() {
  char bytes[4096];
  while (!ended_) {
    const auto count = ::read(fd_, bytes, sizeof bytes);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw Error(std::string("the answers cannot be read: ") + std::strerror(errno));
    ended_ = count == 0;
    buffer_.append(bytes, static_cast<std::size_t>(count));
    return count > 0;
  }
  return false;
}

std::optional<std::string> LineReader::next() {
  std::size_t end = 0;
  while ((end = buffer_.find('\n')) == std::string::npos) {
    if (buffer_.size() > longest_line) throw Error("an answer is longer than 64 KiB");
    if (fill()) continue;
    if (buffer_.empty()) return std::nullopt;
    return std::exchange(buffer_, "");
  }
  auto line = buffer_.substr(0, end);
  buffer_.erase(0, end + 1);
  return line;
}

std::optional<std::string> LineReader::left_over() const {
  for (const auto line : split(buffer_, '\n')) {
    if (!trim(line).empty()) return std::string(trim(line));
  }
  return std::nullopt;
}

}  // namespace muster::launcher
