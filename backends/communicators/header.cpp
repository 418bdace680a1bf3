#include "communicators/header.hpp"

#include "text.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <string_view>

namespace muster {
namespace {

using Kind = Operation::Kind;

Kind kind_of(const Header& header) { return static_cast<Kind>(header.kind); }

/// FNV-1a, and at the end each bit has an effect on all.
std::uint64_t hash(std::span<const std::int64_t> numbers) {
  std::uint64_t value = 0xcbf29ce484222325;
  for (const auto number : numbers) {
    value = (value ^ static_cast<std::uint64_t>(number)) * 0x100000001b3;
    value ^= value >> 32;
  }
  value *= 0xff51afd7ed558ccd;
  return value ^ (value >> 33);
}

bool same_shape(const Header& a, const Header& b) {
  return a.dimensions == b.dimensions &&
         std::equal(std::begin(a.sizes), std::end(a.sizes), std::begin(b.sizes));
}

}  // namespace

Header describe(const Operation& operation) {
  Header header{};
  header.sequence = operation.sequence;
  header.kind = static_cast<std::int8_t>(operation.kind);
  header.op = static_cast<std::int8_t>(operation.op);
  header.root = operation.peer;
  const auto& tensor = operation.input.defined() ? operation.input : operation.output;
  if (tensor.defined()) {
    header.input_numel = tensor.numel();
    header.input_dtype = static_cast<std::int8_t>(tensor.scalar_type());
    header.dimensions = static_cast<std::int32_t>(tensor.dim());
    if (tensor.dim() <= Header::most_dimensions) {
      std::copy(tensor.sizes().begin(), tensor.sizes().end(), std::begin(header.sizes));
    }
  }
  if (operation.output.defined()) {
    header.output_numel = operation.output.numel();
    header.output_dtype = static_cast<std::int8_t>(operation.output.scalar_type());
  }
  header.counts_hash =
      hash(operation.kind == Kind::all_gather ? operation.output_counts : operation.input_counts);
  const auto length = std::min(operation.label.size(), Header::label_bytes - 1);
  std::memcpy(header.label, operation.label.data(), length);
  header.divided = operation.divided;
  header.count = operation.count;
  header.check = Header::written;
  return header;
}

std::string to_text(const Header& header) {
  const auto kind = kind_of(header);
  std::string text(to_string(kind));
  if (kind == Kind::all_reduce || kind == Kind::reduce_scatter) {
    text += "(" + std::string(to_string(static_cast<ReduceOp>(header.op))) + ")";
  }
  text += " #" + std::to_string(header.sequence) + " '" + header.label + "'";
  if (kind == Kind::barrier) {
    return text;
  }
  text += " of " + to_text(static_cast<at::ScalarType>(header.input_dtype)) + " ";
  text += header.dimensions <= Header::most_dimensions
              ? to_text(at::IntArrayRef(header.sizes, static_cast<std::size_t>(header.dimensions)))
              : std::to_string(header.input_numel) + " elements";
  if (header.output_dtype != header.input_dtype &&
      (kind == Kind::all_reduce || kind == Kind::reduce_scatter)) {
    text += " into " + to_text(static_cast<at::ScalarType>(header.output_dtype));
  }
  if (header.divided != 0) {
    text += ", the first " + std::to_string(header.divided) + " divided";
  }
  if (kind == Kind::broadcast) {
    text += " from rank " + std::to_string(header.root);
  }
  return text;
}

std::uint64_t fingerprint(const Header& header) {
  const std::array<std::int64_t, 7> parts{
      header.kind,         header.op,          header.input_dtype,
      header.output_dtype, header.input_numel, static_cast<std::int64_t>(header.counts_hash),
      header.divided};
  return hash(parts);
}

bool agree(const Header& mine, const Header& theirs, std::int64_t expected) {
  if (mine.ordinal != theirs.ordinal || mine.kind != theirs.kind ||
      mine.input_dtype != theirs.input_dtype) {
    return false;
  }
  switch (kind_of(mine)) {
    case Kind::all_reduce:
      return mine.op == theirs.op && mine.output_dtype == theirs.output_dtype &&
             same_shape(mine, theirs) && mine.input_numel == theirs.input_numel &&
             mine.divided == theirs.divided;
    case Kind::reduce_scatter:
      return mine.op == theirs.op && mine.output_dtype == theirs.output_dtype &&
             mine.input_numel == theirs.input_numel && mine.counts_hash == theirs.counts_hash;
    case Kind::broadcast:
      return mine.root == theirs.root && same_shape(mine, theirs) &&
             mine.input_numel == theirs.input_numel;
    case Kind::all_gather:
      return mine.output_numel == theirs.output_numel && mine.counts_hash == theirs.counts_hash &&
             theirs.for_you == expected;
    case Kind::all_to_all:
      return theirs.for_you == expected;
    case Kind::barrier:
      return true;
    case Kind::send:
    case Kind::receive:
      return false;
  }
  return false;
}

}  // namespace muster
