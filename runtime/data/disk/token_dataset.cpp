#include <muster/token_dataset.hpp>

#include "data/disk/token_reader.hpp"

#include <ATen/ops/empty.h>

#include <algorithm>
#include <string>
#include <utility>

namespace muster {
TokenDataset::TokenDataset(at::Tensor tokens, const TokenDatasetOptions& options)
    : TokenDataset(std::vector<at::Tensor>{std::move(tokens)}, options) {}

TokenDataset::TokenDataset(std::vector<at::Tensor> files, const TokenDatasetOptions& options)
    : files_(std::move(files)),
      length_(options.length),
      stride_(options.stride == 0 ? options.length : options.stride) {
  if (length_ < 1 || stride_ < 1) {
    throw ConfigError("TokenDataset: length is " + std::to_string(options.length) +
                      " and stride is " + std::to_string(options.stride) +
                      "; expected at least 1 (a stride of 0: as the length)");
  }
  std::int64_t samples = 0, tokens = 0;
  for (at::Tensor& file : files_) {
    require_tokens(file, "TokenDataset");
    file = file.contiguous();
    tokens += file.numel();
    if (file.numel() > length_) samples += (file.numel() - 1 - length_) / stride_ + 1;
    ends_.push_back(samples);
  }
  if (samples == 0) {
    throw ConfigError("TokenDataset: " + std::to_string(files_.size()) + " files with " +
                      std::to_string(tokens) + " tokens in all have no sample of length " +
                      std::to_string(length_) + ", for which one of them needs " +
                      std::to_string(length_ + 1));
  }
}

Example<> TokenDataset::get(std::int64_t index) const {
  Example<> one = get_batch({index});
  return {one.data.squeeze(0), one.target.squeeze(0)};
}

Example<> TokenDataset::get_batch(const std::vector<std::int64_t>& indices) const {
  const auto rows = static_cast<std::int64_t>(indices.size());
  Example<> batch{at::empty({rows, length_}, at::TensorOptions(at::kLong)),
                  at::empty({rows, length_}, at::TensorOptions(at::kLong))};
  auto* data = batch.data.mutable_data_ptr<std::int64_t>();
  auto* target = batch.target.mutable_data_ptr<std::int64_t>();
  for (const std::int64_t index : indices) {
    if (index < 0 || index >= size()) {
      throw ConfigError("TokenDataset: sample " + std::to_string(index) + " of " +
                        std::to_string(size()));
    }
    const auto file =
        static_cast<std::size_t>(std::ranges::upper_bound(ends_, index) - ends_.begin());
    const std::int64_t before = file == 0 ? 0 : ends_[file - 1];
    const std::int64_t begin = (index - before) * stride_;
    read_tokens(files_[file], begin, length_, data);
    read_tokens(files_[file], begin + 1, length_, target);
    data += length_;
    target += length_;
  }
  return batch;
}

}  // namespace muster
