#pragma once

#include <muster/dataset.hpp>

#include <ATen/core/Tensor.h>

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace text {

/// The characters of a text by number, in the order in which they first come.
class Alphabet {
 public:
  explicit Alphabet(std::string_view text);
  std::int64_t size() const noexcept { return static_cast<std::int64_t>(characters_.size()); }
  /// [length], int64. Throws std::invalid_argument for a character that the text does not have.
  at::Tensor ids(std::string_view text) const;
  char character(std::int64_t id) const { return characters_[static_cast<std::size_t>(id)]; }

 private:
  std::string characters_;
  std::array<std::int64_t, 256> numbers_;
};

/// Stretches of a text that lie side by side; the target of a character is the next one.
class Stretches {
 public:
  /// ids: [length].
  Stretches(at::Tensor ids, std::int64_t context);
  std::int64_t size() const noexcept { return (ids_.size(0) - 1) / context_; }
  /// data and target: [indices, context].
  muster::Example<> get_batch(const std::vector<std::int64_t>& indices) const;

 private:
  at::Tensor ids_;
  std::int64_t context_;
};

/// Throws std::runtime_error if it cannot be read.
std::string read_book(const std::filesystem::path& file);

}  // namespace text
