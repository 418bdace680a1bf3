#include "data/disk/tar_members.hpp"

#include <muster/data_error.hpp>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string_view>

namespace muster {
namespace {

constexpr std::size_t block = 512;

[[noreturn]] void refuse(const MappedFile& file, std::size_t offset, const std::string& fault) {
  throw DataError(file.name() + ": " + fault + " (at byte " + std::to_string(offset) + ")");
}

/// The 512 bytes before what a tar file holds of a member.
class Header {
 public:
  Header(const MappedFile& file, std::size_t offset)
      : file_(file),
        offset_(offset),
        text_(reinterpret_cast<const char*>(file.bytes().data()) + offset, block) {}

  bool is_zero() const {
    return std::ranges::all_of(text_, [](char byte) { return byte == '\0'; });
  }
  char kind() const { return text_[156]; }
  std::string name() const {
    const std::string_view prefix = field(345, 155), name = field(0, 100);
    const bool split = field(257, 6) == "ustar" && !prefix.empty();
    return split ? std::string(prefix) + '/' + std::string(name) : std::string(name);
  }
  std::uint64_t size() const { return number(124, 12); }

  void check() const {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < block; ++i) {
      sum += static_cast<unsigned char>(i >= 148 && i < 156 ? ' ' : text_[i]);
    }
    if (sum == number(148, 8)) return;
    refuse(file_, offset_, offset_ == 0 ? "no tar file" : "damaged: a header's checksum is wrong");
  }

 private:
  /// Up to the first zero byte.
  std::string_view field(std::size_t begin, std::size_t length) const {
    const std::string_view all = text_.substr(begin, length);
    return all.substr(0, all.find('\0'));
  }
  std::uint64_t number(std::size_t begin, std::size_t length) const {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text_[begin + i]); };
    std::uint64_t value = 0;
    if ((byte(0) & 0x80U) != 0) {  // GNU: too large for octal digits, so in binary.
      for (std::size_t i = length - 8; i < length; ++i) value = value << 8U | byte(i);
      return value;
    }
    std::string_view digits = field(begin, length);
    digits.remove_prefix(std::min(digits.find_first_not_of(' '), digits.size()));
    digits = digits.substr(0, digits.find(' '));
    const auto [end, fault] =
        std::from_chars(digits.data(), digits.data() + digits.size(), value, 8);
    if (!digits.empty() && (fault != std::errc{} || end != digits.data() + digits.size())) {
      refuse(file_, offset_, offset_ == 0 ? "no tar file" : "damaged: a header has no number");
    }
    return value;
  }

  const MappedFile& file_;
  std::size_t offset_;
  std::string_view text_;
};

/// What headers before a member's own say of it.
struct Extended {
  std::string name;
  std::optional<std::uint64_t> size;
};

/// Lines of "LENGTH KEY=VALUE\n".
void read_pax(const MappedFile& file, std::size_t offset, std::string_view text,
              Extended& extended) {
  while (!text.empty() && text.front() != '\0') {
    std::size_t length = 0;
    const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), length);
    const auto digits = static_cast<std::size_t>(end - text.data());
    if (fault != std::errc{} || length > text.size() || length < digits + 3) {
      refuse(file, offset, "damaged: an extended header that cannot be read");
    }
    const std::string_view line = text.substr(digits + 1, length - digits - 2);
    text.remove_prefix(length);
    const std::size_t equals = line.find('=');
    const std::string_view key = line.substr(0, equals);
    const std::string_view value = equals == line.npos ? "" : line.substr(equals + 1);
    if (key == "path") extended.name = value;
    if (key == "size") {
      std::uint64_t size = 0;
      std::from_chars(value.data(), value.data() + value.size(), size);
      extended.size = size;
    }
    if (key.starts_with("GNU.sparse")) refuse(file, offset, "it holds a sparse file");
  }
}

void refuse_compressed(const MappedFile& file) {
  const std::string_view text(reinterpret_cast<const char*>(file.bytes().data()),
                              file.bytes().size());
  if (text.starts_with("\x1f\x8b") || text.starts_with("\x28\xb5\x2f\xfd") ||
      text.starts_with("BZh") ||
      text.starts_with("\xfd"
                       "7zXZ")) {
    refuse(file, 0, "it is compressed: unpack it to a plain .tar");
  }
}

bool has_content(char kind) { return kind < '1' || kind > '6'; }
bool is_regular(char kind) { return kind == '0' || kind == '\0' || kind == '7'; }

}  // namespace

std::optional<TarMember> next_member(const MappedFile& file, std::size_t offset) {
  const std::span<const std::byte> all = file.bytes();
  Extended extended;
  if (offset == 0) refuse_compressed(file);
  while (offset < all.size()) {
    if (all.size() - offset < block) refuse(file, offset, "cut off in a header");
    const Header header(file, offset);
    if (header.is_zero()) return {};
    header.check();
    const char kind = header.kind();
    const bool own = kind != 'x' && kind != 'g' && kind != 'L' && kind != 'K';
    const std::uint64_t size = own && extended.size ? *extended.size : header.size();
    const std::size_t begin = offset + block;
    if (has_content(kind) && size > all.size() - begin) {
      refuse(file, offset,
             "cut off: '" + header.name() + "' should have " + std::to_string(size) +
                 " bytes, there are " + std::to_string(all.size() - begin));
    }
    const auto bytes = all.subspan(begin, has_content(kind) ? size : 0);
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    const std::size_t next =
        std::min(begin + (bytes.size() + block - 1) / block * block, all.size());
    if (kind == 'S') refuse(file, offset, "it holds a sparse file");
    if (kind == 'L') extended.name = text.substr(0, text.find('\0'));
    if (kind == 'x') read_pax(file, offset, text, extended);
    if (is_regular(kind)) {
      return TarMember{extended.name.empty() ? header.name() : extended.name, bytes, next};
    }
    if (own) extended = {};
    offset = next;
  }
  return {};
}

}  // namespace muster
