#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace muster::tracking {

/// A protocol buffer's message, written field by field.
class Message {
 public:
  Message& whole(int field, std::int64_t value);
  Message& real(int field, double value);
  Message& short_real(int field, float value);
  /// A string, bytes or a message within.
  Message& bytes(int field, std::string_view content);

  const std::string& text() const noexcept { return text_; }

 private:
  void varint(std::uint64_t value);
  void key(int field, unsigned wire_type);

  std::string text_;
};

/// `value`'s bytes, lowest first.
std::string little_endian(std::uint64_t value, int bytes);

}  // namespace muster::tracking
