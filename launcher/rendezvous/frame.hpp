#pragma once

#include "rendezvous/messages.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace muster::launcher {

/// One message as it came. Its payload is not decoded.
struct Frame {
  std::uint8_t protocol = 0;
  MessageKind kind = MessageKind::hello;
  std::string payload;
};

/// What a frame has before its payload: "MSTR", the protocol's number, the kind, two zero bytes and
/// the payload's length.
inline constexpr std::size_t frame_header_bytes = 12;
std::string frame_header(MessageKind kind, std::size_t payload_bytes);

/// What is wrong with the beginning of a frame, of which not all may be there; empty if nothing is.
std::string frame_fault(std::string_view bytes, std::size_t most_bytes);

/// Length of the frame at the beginning of `bytes`; 0 while its header is not whole.
std::size_t frame_bytes(std::string_view bytes);
/// The frame at the beginning of `bytes`, which has all of it and no fault.
Frame frame_in(std::string_view bytes);

}  // namespace muster::launcher
