#include "data/disk/token_reader.hpp"

#include <muster/error.hpp>

#include <algorithm>
#include <sstream>

namespace muster {
namespace {

using Reader = void (*)(const at::Tensor& tokens, std::int64_t begin, std::int64_t count,
                        std::int64_t* to);

// By hand: LibTorch's operators know little of unsigned numbers.
template <class T>
void read_as(const at::Tensor& tokens, std::int64_t begin, std::int64_t count, std::int64_t* to) {
  const T* from = static_cast<const T*>(tokens.const_data_ptr()) + begin;
  std::transform(from, from + count, to, [](T token) { return static_cast<std::int64_t>(token); });
}

/// Null for a dtype that is none of tokens.
Reader reader_of(at::ScalarType dtype) {
  if (dtype == at::kByte) return read_as<std::uint8_t>;
  if (dtype == at::kUInt16) return read_as<std::uint16_t>;
  if (dtype == at::kUInt32) return read_as<std::uint32_t>;
  if (dtype == at::kShort) return read_as<std::int16_t>;
  if (dtype == at::kInt) return read_as<std::int32_t>;
  if (dtype == at::kLong) return read_as<std::int64_t>;
  return nullptr;
}

}  // namespace

void require_tokens(const at::Tensor& tokens, std::string_view who) {
  const bool defined = tokens.defined();
  if (defined && tokens.dim() == 1 && tokens.is_cpu() && reader_of(tokens.scalar_type())) return;
  std::ostringstream text;
  text << who << ": the tokens are ";
  if (defined) {
    text << tokens.scalar_type() << ' ' << tokens.sizes() << " on " << tokens.device();
  } else {
    text << "undefined";
  }
  text << "; expected [n] of uint8, 16, 32 or int16, 32, 64 on the CPU";
  throw ConfigError(text.str());
}

void read_tokens(const at::Tensor& tokens, std::int64_t begin, std::int64_t count,
                 std::int64_t* to) {
  reader_of(tokens.scalar_type())(tokens, begin, count, to);
}

}  // namespace muster
