#include "frame.hpp"

#include "screen/printable.hpp"

namespace muster::launcher {
namespace {

constexpr std::string_view magic = "MSTR";

std::size_t payload_bytes(std::string_view header) {
  std::size_t size = 0;
  for (const char byte : header.substr(8, 4)) size = size << 8U | static_cast<unsigned char>(byte);
  return size;
}

}  // namespace

std::string frame_header(MessageKind kind, std::size_t payload_bytes) {
  std::string header(magic);
  header += static_cast<char>(rendezvous_protocol);
  header += static_cast<char>(kind);
  header.append(2, '\0');
  for (int shift = 24; shift >= 0; shift -= 8) header += static_cast<char>(payload_bytes >> shift);
  return header;
}

std::string frame_fault(std::string_view bytes, std::size_t most_bytes) {
  const auto begin = bytes.substr(0, magic.size());
  if (begin != magic.substr(0, begin.size())) {
    const auto line = bytes.substr(0, bytes.find_first_of("\r\n"));
    return "what it sends is not muster's: '" + printable(line) + "'";
  }
  if (bytes.size() < frame_header_bytes) return "";
  const auto kind = static_cast<std::uint8_t>(bytes[5]);
  if (kind == 0 || kind > static_cast<std::uint8_t>(last_message) || bytes[6] != 0 || bytes[7] != 0)
    return "it sends a message of no known kind";
  return payload_bytes(bytes) > most_bytes ? "it sends a message that is too long" : "";
}

std::size_t frame_bytes(std::string_view bytes) {
  return bytes.size() < frame_header_bytes ? 0 : frame_header_bytes + payload_bytes(bytes);
}

Frame frame_in(std::string_view bytes) {
  return {static_cast<std::uint8_t>(bytes[4]), static_cast<MessageKind>(bytes[5]),
          std::string(bytes.substr(frame_header_bytes, payload_bytes(bytes)))};
}

}  // namespace muster::launcher
