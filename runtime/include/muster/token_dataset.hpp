#pragma once

#include <muster/data_error.hpp>
#include <muster/dataset.hpp>

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <filesystem>
#include <vector>

namespace muster {

/// [n] of the tokens of a .bin file, left on the disk (see array_files.hpp). Files of llm.c, which
/// begin with a header, are known by it and tell their dtype, uint16 or uint32; all others are
/// numbers of `dtype` from the first byte on, as nanoGPT writes them. Throws DataError.
at::Tensor map_tokens(const std::filesystem::path& path, at::ScalarType dtype = at::kUInt16);

struct TokenDatasetOptions {
  std::int64_t length;      ///< Tokens of a sample.
  std::int64_t stride = 0;  ///< From the start of one sample to that of the next; 0: length.
};

/// Samples for a model that predicts the next token: data is tokens[s .. s + length), target is
/// tokens[s + 1 .. s + length], for s = 0, stride, 2 stride ... as far as both are whole. Of
/// several files, each has its own samples, in the files' order; none reaches from one into the
/// next. Any thread may read it.
class TokenDataset {
 public:
  /// `files`: [n] each, of uint8, 16, 32 or int16, 32, 64; kept, not copied. Throws ConfigError for
  /// another shape or dtype, for a length under 1, and if there is not one sample.
  TokenDataset(std::vector<at::Tensor> files, const TokenDatasetOptions& options);
  TokenDataset(at::Tensor tokens, const TokenDatasetOptions& options);

  std::int64_t size() const noexcept { return ends_.back(); }
  /// data [length] and target [length], int64.
  Example<> get(std::int64_t index) const;
  /// data [indices, length] and target [indices, length], int64.
  Example<> get_batch(const std::vector<std::int64_t>& indices) const;

 private:
  std::vector<at::Tensor> files_;
  std::vector<std::int64_t> ends_;  ///< Samples in this file and those before it.
  std::int64_t length_, stride_;
};

}  // namespace muster
