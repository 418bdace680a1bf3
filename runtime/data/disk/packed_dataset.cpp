#include <muster/error.hpp>
#include <muster/sequence_packing.hpp>

#include "data/disk/token_reader.hpp"

#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <numeric>
#include <utility>

namespace muster {
namespace {

constexpr std::int64_t no_target = -100, no_document = -1;
constexpr std::int64_t tokens_a_read = 1 << 16;

void check(const at::Tensor& tokens, const std::vector<std::int64_t>& lengths,
           const PackedDatasetOptions& options) {
  require_tokens(tokens, "PackedDataset");
  if (options.length < 1) {
    throw ConfigError("PackedDataset: length is " + std::to_string(options.length) +
                      "; expected at least 1");
  }
  const bool negative =
      std::ranges::any_of(lengths, [](std::int64_t length) { return length < 0; });
  const auto sum = std::accumulate(lengths.begin(), lengths.end(), std::int64_t{0});
  if (negative || sum != tokens.numel()) {
    throw ConfigError("PackedDataset: the " + std::to_string(lengths.size()) +
                      " lengths of documents are " + std::to_string(sum) +
                      " in all; expected as many as there are tokens, " +
                      std::to_string(tokens.numel()) + ", and none under 0");
  }
}

}  // namespace

std::vector<std::int64_t> document_lengths(const at::Tensor& tokens, std::int64_t separator,
                                           Separator place) {
  require_tokens(tokens, "document_lengths");
  const at::Tensor all = tokens.contiguous();
  const bool ends = place == Separator::ends;
  std::vector<std::int64_t> lengths, part;
  std::int64_t begin = 0;
  const auto cut = [&](std::int64_t at) {
    if (at > begin) lengths.push_back(at - begin);
    begin = at;
  };
  for (std::int64_t from = 0; from < all.numel(); from += tokens_a_read) {
    part.resize(static_cast<std::size_t>(std::min(tokens_a_read, all.numel() - from)));
    read_tokens(all, from, static_cast<std::int64_t>(part.size()), part.data());
    for (std::size_t i = 0; i < part.size(); ++i) {
      if (part[i] == separator) cut(from + static_cast<std::int64_t>(i) + (ends ? 1 : 0));
    }
  }
  cut(all.numel());
  return lengths;
}

PackedDataset::PackedDataset(at::Tensor tokens, const std::vector<std::int64_t>& lengths,
                             const PackedDatasetOptions& options)
    : tokens_(std::move(tokens)), options_(options) {
  check(tokens_, lengths, options_);
  tokens_ = tokens_.contiguous();
  std::vector<std::int64_t> places;
  std::int64_t begin = 0;
  for (const std::int64_t length : lengths) {
    for (std::int64_t done = 0; done < length - 1; done += options_.length) {
      places.push_back(std::min(options_.length, length - 1 - done));
      pieces_.push_back({begin + done, places.back(), done});
    }
    begin += length;
  }
  if (pieces_.empty()) {
    throw ConfigError("PackedDataset: none of " + std::to_string(lengths.size()) +
                      " documents has two tokens or more: nothing can be predicted");
  }
  rows_ = pack_sequences(places, options_.length);
}

PackedDataset::Batch PackedDataset::get_batch(const std::vector<std::int64_t>& indices) const {
  const std::vector<std::int64_t> shape{static_cast<std::int64_t>(indices.size()), options_.length};
  const at::TensorOptions whole(at::kLong);
  Batch batch{{{"tokens", at::full(shape, options_.padding_token, whole)},
               {"positions", at::zeros(shape, whole)},
               {"documents", at::full(shape, no_document, whole)}},
              at::full(shape, no_target, whole)};
  const auto memory = [](at::Tensor& tensor) { return tensor.mutable_data_ptr<std::int64_t>(); };
  auto *tokens = memory(batch.data["tokens"]), *positions = memory(batch.data["positions"]),
       *documents = memory(batch.data["documents"]), *target = memory(batch.target);
  std::int64_t row_begin = 0;
  for (const std::int64_t index : indices) {
    if (index < 0 || index >= size()) {
      throw ConfigError("PackedDataset: row " + std::to_string(index) + " of " +
                        std::to_string(size()));
    }
    std::int64_t at = row_begin, document = 0;
    for (const std::int64_t number : rows_[static_cast<std::size_t>(index)]) {
      const Piece& piece = pieces_[static_cast<std::size_t>(number)];
      read_tokens(tokens_, piece.begin, piece.places, tokens + at);
      read_tokens(tokens_, piece.begin + 1, piece.places, target + at);
      std::iota(positions + at, positions + at + piece.places, piece.position);
      std::fill_n(documents + at, piece.places, document++);
      at += piece.places;
    }
    row_begin += options_.length;
  }
  return batch;
}

double PackedDataset::filled() const noexcept {
  std::int64_t places = 0;
  for (const Piece& piece : pieces_) places += piece.places;
  return static_cast<double>(places) / static_cast<double>(size() * options_.length);
}

at::Tensor document_mask(const at::Tensor& documents) {
  if (!documents.defined() || documents.dim() != 2) {
    throw ConfigError("document_mask: documents has " +
                      std::to_string(documents.defined() ? documents.dim() : 0) +
                      " dimensions; expected [rows, length]");
  }
  const std::int64_t length = documents.size(1);
  const at::Tensor before = at::ones({length, length}, documents.options().dtype(at::kBool)).tril();
  return documents.unsqueeze(2).eq(documents.unsqueeze(1)).logical_and(before).unsqueeze(1);
}

}  // namespace muster
