#include "wire.hpp"

#include <algorithm>

namespace muster::launcher {

void WireWriter::number(std::uint64_t value, int bytes) {
  for (int i = bytes - 1; i >= 0; --i) bytes_ += static_cast<char>(value >> (8 * i));
}

void WireWriter::operator()(const std::string& value, std::size_t most) {
  const auto size = std::min(value.size(), most);
  number(size, 4);
  bytes_.append(value, 0, size);
}

std::string_view WireReader::take(std::size_t size) {
  if (size > bytes_.size()) fail();
  if (!good_) return {};
  const auto taken = bytes_.substr(0, size);
  bytes_.remove_prefix(size);
  return taken;
}

std::uint64_t WireReader::number(std::size_t bytes) {
  std::uint64_t value = 0;
  for (const char byte : take(bytes)) value = value << 8U | static_cast<unsigned char>(byte);
  return value;
}

void WireReader::operator()(bool& value) {
  const auto byte = number(1);
  if (byte > 1) fail();
  value = good_ && byte == 1;
}

void WireReader::operator()(Digest& value) {
  value = {};
  const auto bytes = take(value.size());
  std::copy(bytes.begin(), bytes.end(), value.begin());
}

void WireReader::operator()(std::string& value, std::size_t most) {
  const auto size = number(4);
  if (size > most) fail();
  value = take(static_cast<std::size_t>(size));
}

}  // namespace muster::launcher
