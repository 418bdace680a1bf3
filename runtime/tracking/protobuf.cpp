#include "tracking/protobuf.hpp"

#include <bit>

namespace muster::tracking {

std::string little_endian(std::uint64_t value, int bytes) {
  std::string text;
  for (int byte = 0; byte < bytes; ++byte) {
    text += static_cast<char>((value >> (8U * static_cast<unsigned>(byte))) & 0xffU);
  }
  return text;
}

Message& Message::whole(int field, std::int64_t value) {
  key(field, 0);
  varint(static_cast<std::uint64_t>(value));
  return *this;
}

Message& Message::real(int field, double value) {
  key(field, 1);
  text_ += little_endian(std::bit_cast<std::uint64_t>(value), 8);
  return *this;
}

Message& Message::short_real(int field, float value) {
  key(field, 5);
  text_ += little_endian(std::bit_cast<std::uint32_t>(value), 4);
  return *this;
}

Message& Message::bytes(int field, std::string_view content) {
  key(field, 2);
  varint(content.size());
  text_ += content;
  return *this;
}

void Message::varint(std::uint64_t value) {
  for (; value >= 0x80; value >>= 7U) text_ += static_cast<char>((value & 0x7fU) | 0x80U);
  text_ += static_cast<char>(value);
}

void Message::key(int field, unsigned wire_type) {
  varint((static_cast<std::uint64_t>(field) << 3U) | wire_type);
}

}  // namespace muster::tracking
