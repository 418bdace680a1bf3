#include "data/disk/npy_header.hpp"

#include <muster/data_error.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace muster {
namespace {

constexpr std::string_view magic = "\x93NUMPY";

[[noreturn]] void refuse(const MappedFile& file, const std::string& fault) {
  throw DataError(file.name() + ": " + fault);
}

/// Reads the Python dictionary that describes the array.
class Description {
 public:
  Description(const MappedFile& file, std::string_view text) : file_(file), rest_(text) {
    expect('{');
    while (!accept('}')) {
      const std::string key = quoted();
      expect(':');
      if (key == "descr") {
        descr_ = peek() == '[' ? refuse_record() : quoted();
      } else if (key == "fortran_order") {
        fortran_order_ = truth();
      } else if (key == "shape") {
        shape_ = numbers();
      } else {
        broken();
      }
      if (!accept(',') && peek() != '}') broken();
    }
    if (!descr_ || !fortran_order_ || !shape_) broken();
  }

  const std::string& descr() const { return *descr_; }
  bool fortran_order() const { return *fortran_order_; }
  const std::vector<std::int64_t>& shape() const { return *shape_; }

 private:
  [[noreturn]] void broken() const { refuse(file_, "its header is no description of an array"); }
  [[noreturn]] std::string refuse_record() const {
    refuse(file_,
           "it holds records with fields; a tensor has one dtype: save each field by itself");
  }

  char peek() {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(" \n\t"), rest_.size()));
    return rest_.empty() ? '\0' : rest_.front();
  }
  bool accept(char wanted) {
    if (peek() != wanted) return false;
    rest_.remove_prefix(1);
    return true;
  }
  void expect(char wanted) {
    if (!accept(wanted)) broken();
  }
  bool accept_word(std::string_view word) {
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }

  std::string quoted() {
    const char quote = peek();
    if (quote != '\'' && quote != '"') broken();
    const std::size_t end = rest_.find(quote, 1);
    if (end == std::string_view::npos) broken();
    std::string text(rest_.substr(1, end - 1));
    rest_.remove_prefix(end + 1);
    return text;
  }
  bool truth() {
    peek();
    if (accept_word("True")) return true;
    if (accept_word("False")) return false;
    broken();
  }
  std::vector<std::int64_t> numbers() {
    std::vector<std::int64_t> found;
    expect('(');
    while (!accept(')')) {
      peek();
      std::int64_t number = 0;
      const auto [end, fault] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), number);
      if (fault != std::errc{} || number < 0) broken();
      rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
      accept_word("L");  // Python 2 wrote it.
      found.push_back(number);
      if (!accept(',') && peek() != ')') broken();
    }
    return found;
  }

  const MappedFile& file_;
  std::string_view rest_;
  std::optional<std::string> descr_;
  std::optional<bool> fortran_order_;
  std::optional<std::vector<std::int64_t>> shape_;
};

at::ScalarType dtype_of(const MappedFile& file, const std::string& descr) {
  static constexpr std::array<std::pair<std::string_view, at::ScalarType>, 14> known{
      {{"b1", at::kBool},
       {"u1", at::kByte},
       {"i1", at::kChar},
       {"u2", at::kUInt16},
       {"i2", at::kShort},
       {"u4", at::kUInt32},
       {"i4", at::kInt},
       {"u8", at::kUInt64},
       {"i8", at::kLong},
       {"f2", at::kHalf},
       {"f4", at::kFloat},
       {"f8", at::kDouble},
       {"c8", at::kComplexFloat},
       {"c16", at::kComplexDouble}}};
  if (descr.starts_with('>') && !descr.ends_with('1')) {
    refuse(file, "its numbers are big-endian ('" + descr +
                     "'): save array.astype(array.dtype.newbyteorder('<'))");
  }
  const std::string_view kind = std::string_view(descr).substr(descr.empty() ? 0 : 1);
  const auto* const found = std::ranges::find(known, kind, [](const auto& k) { return k.first; });
  if (found == known.end()) {
    refuse(file, "no tensor can hold its dtype '" + descr +
                     "'; known are bool, (u)int8 to 64, float16 to 64, complex64 and 128");
  }
  return found->second;
}

/// Where the text of the header begins and ends.
std::pair<std::size_t, std::size_t> header_text(const MappedFile& file) {
  const auto bytes = file.bytes();
  const auto byte = [&](std::size_t at) { return std::to_integer<std::size_t>(bytes[at]); };
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (!text.starts_with(magic) || bytes.size() < magic.size() + 4) {
    refuse(file, "no .npy file, which begins with \\x93NUMPY");
  }
  const std::size_t version = byte(magic.size());
  if (version < 1 || version > 3) {
    refuse(file, ".npy format " + std::to_string(version) + "; known are 1, 2 and 3");
  }
  const std::size_t width = version == 1 ? 2 : 4, begin = magic.size() + 2 + width;
  if (bytes.size() < begin) refuse(file, "its header is cut off");
  std::size_t length = 0;
  for (std::size_t i = width; i-- > 0;) length = length << 8U | byte(begin - width + i);
  if (length > bytes.size() - begin) refuse(file, "its header is cut off");
  return {begin, begin + length};
}

/// Bytes of an array; none if they cannot be counted.
std::optional<std::uint64_t> array_bytes(const std::vector<std::int64_t>& shape,
                                         at::ScalarType dtype) {
  std::uint64_t bytes = c10::elementSize(dtype);
  if (std::ranges::find(shape, 0) != shape.end()) return 0;
  for (const std::int64_t size : shape) {
    if (__builtin_mul_overflow(bytes, static_cast<std::uint64_t>(size), &bytes)) return {};
  }
  return bytes;
}

}  // namespace

TensorPlace read_npy_header(const MappedFile& file) {
  const auto [begin, end] = header_text(file);
  const std::string_view all(reinterpret_cast<const char*>(file.bytes().data()),
                             file.bytes().size());
  const Description description(file, all.substr(begin, end - begin));
  const at::ScalarType dtype = dtype_of(file, description.descr());
  const std::size_t there = file.bytes().size() - end;
  const auto wanted = array_bytes(description.shape(), dtype);
  if (!wanted || *wanted > there) {
    refuse(file, "its array should be " +
                     (wanted ? std::to_string(*wanted) : std::string("over 2^64")) +
                     " bytes long, there are " + std::to_string(there));
  }
  TensorPlace place{
      end, dtype, at::DimVector(description.shape().begin(), description.shape().end()), {}};
  if (description.fortran_order()) {
    at::DimVector reversed(place.sizes.rbegin(), place.sizes.rend());
    const at::DimVector strides = row_major(reversed);
    place.strides = at::DimVector(strides.rbegin(), strides.rend());
  } else {
    place.strides = row_major(place.sizes);
  }
  return place;
}

}  // namespace muster
