#pragma once

#include "rendezvous/hmac_sha256.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace muster::launcher {

/// Writes values one after the other: numbers with the highest byte first, texts after their
/// length.
class WireWriter {
 public:
  static constexpr bool reads = false;

  void operator()(bool value) { bytes_ += value ? '\1' : '\0'; }
  void operator()(std::int32_t value) { number(static_cast<std::uint32_t>(value), 4); }
  void operator()(std::int64_t value) { number(static_cast<std::uint64_t>(value), 8); }
  void operator()(const Digest& value) { bytes_ += bytes_of(value); }
  /// At most `most` bytes are sent: the first of them.
  void operator()(const std::string& value, std::size_t most);
  /// `item(writer, value)` writes one.
  template <class T, class Item>
  void list(std::vector<T>& values, std::size_t most, Item item) {
    const auto count = values.size() < most ? values.size() : most;
    (*this)(static_cast<std::int32_t>(count));
    for (std::size_t i = 0; i < count; ++i) item(*this, values[i]);
  }

  std::string take() { return std::move(bytes_); }

 private:
  void number(std::uint64_t value, int bytes);

  std::string bytes_;
};

/// Reads them again from bytes that anybody may have sent: what is missing, too long or of no
/// meaning makes it bad, and all that is read from then on is zero or empty.
class WireReader {
 public:
  static constexpr bool reads = true;

  /// Borrows `bytes`.
  explicit WireReader(std::string_view bytes) : bytes_(bytes) {}

  void operator()(bool& value);
  void operator()(std::int32_t& value) { value = static_cast<std::int32_t>(number(4)); }
  void operator()(std::int64_t& value) { value = static_cast<std::int64_t>(number(8)); }
  void operator()(Digest& value);
  void operator()(std::string& value, std::size_t most);
  template <class T, class Item>
  void list(std::vector<T>& values, std::size_t most, Item item) {
    std::int32_t count = 0;
    (*this)(count);
    if (count < 0 || static_cast<std::size_t>(count) > most) fail();
    values.clear();
    // One at a time: a number that lies costs no memory.
    for (std::int32_t i = 0; i < count && good_; ++i) item(*this, values.emplace_back());
  }

  void fail() noexcept { good_ = false; }
  bool good() const noexcept { return good_; }
  /// All is read, and nothing was wrong.
  bool done() const noexcept { return good_ && bytes_.empty(); }

 private:
  std::string_view take(std::size_t size);
  std::uint64_t number(std::size_t bytes);

  std::string_view bytes_;
  bool good_ = true;
};

}  // namespace muster::launcher
