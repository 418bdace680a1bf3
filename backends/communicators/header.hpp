#pragma once

#include <muster/operation.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace muster {

/// What a rank says of an operation before it sends data. Machines of a job have one byte order.
struct Header {
  static constexpr std::uint64_t written =
      0x6d75737465722e31;  ///< In `check`: the header is whole.
  static constexpr int most_dimensions = 8;
  static constexpr std::size_t label_bytes = 80;

  std::uint64_t ordinal;   ///< collectives: 1 for the first of the group. send: 0.
  std::uint64_t sequence;  ///< The rank's own count of operations.
  std::int64_t input_numel;
  std::int64_t output_numel;
  std::int64_t for_you;  ///< all_to_all, all_gather: elements that go to the reader.
  std::uint64_t counts_hash;
  std::uint64_t inline_bytes;           ///< Of data, that follow the header.
  std::int64_t sizes[most_dimensions];  ///< Of the input, if it has so few dimensions.
  std::int64_t divided;
  double count;
  std::int32_t dimensions;
  std::int32_t root;
  std::int32_t bulk_tag;  ///< send: under which the data comes if it is not inline.
  std::int8_t kind;
  std::int8_t op;
  std::int8_t input_dtype;
  std::int8_t output_dtype;
  char label[label_bytes];
  std::uint64_t check;
};
static_assert(sizeof(Header) == 240);

/// Without ordinal, for_you, inline_bytes and bulk_tag.
Header describe(const Operation& operation);

/// "all_reduce(sum) #12 'loss' of float32 [3, 4]".
std::string to_text(const Header& header);

/// A number of what ranks must agree on before one reduces what another sent. Where it is equal, so
/// are the lengths of all messages.
std::uint64_t fingerprint(const Header& header);

/// Whether `theirs`, which rank `peer` sent, can belong to the operation of which `mine` tells.
/// `expected`: elements that must come from them (all_gather, all_to_all).
bool agree(const Header& mine, const Header& theirs, std::int64_t expected);

}  // namespace muster
