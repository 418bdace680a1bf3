#include "book.hpp"

#include <ATen/ops/empty.h>
#include <ATen/ops/stack.h>

#include <fstream>
#include <iterator>
#include <stdexcept>
#include <utility>

namespace text {

Alphabet::Alphabet(std::string_view text) {
  numbers_.fill(-1);
  for (const char character : text) {
    auto& number = numbers_[static_cast<unsigned char>(character)];
    if (number >= 0) continue;
    number = size();
    characters_ += character;
  }
}

at::Tensor Alphabet::ids(std::string_view text) const {
  auto ids = at::empty({std::ssize(text)}, at::kLong);
  auto* next = ids.mutable_data_ptr<std::int64_t>();
  for (const char character : text) {
    *next = numbers_[static_cast<unsigned char>(character)];
    if (*next++ < 0) {
      throw std::invalid_argument(std::string("the book has no character '") + character + "'");
    }
  }
  return ids;
}

Stretches::Stretches(at::Tensor ids, std::int64_t context)
    : ids_(std::move(ids)), context_(context) {}

muster::Example<> Stretches::get_batch(const std::vector<std::int64_t>& indices) const {
  std::vector<at::Tensor> data, target;
  for (const auto index : indices) {
    data.push_back(ids_.narrow(0, index * context_, context_));
    target.push_back(ids_.narrow(0, index * context_ + 1, context_));
  }
  return {at::stack(data), at::stack(target)};
}

std::string read_book(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::string text(std::istreambuf_iterator<char>(in), {});
  if (text.empty()) throw std::runtime_error("cannot read " + file.string());
  return text;
}

}  // namespace text
