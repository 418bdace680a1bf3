#pragma once

#include <muster/communicator.hpp>

#include <ATen/core/Tensor.h>

namespace muster {

/// Of a batch that is spread over ranks, per channel (dimension 1): fp32, or fp64 for fp64.
struct BatchStatistics {
  at::Tensor mean;
  at::Tensor variance;  ///< Biased.
  double count = 0;     ///< Values a channel.
};

/// Collective over `group`: of all ranks' inputs [n, channels, ...]; n may differ, and be 0. Ranks'
/// moments are joined in rank order in fp64, so all ranks have the same bits.
/// Throws ModelError if one value a channel is all there is.
BatchStatistics batch_statistics(const at::Tensor& input, Communicator& group);

/// What the gradient of a batch norm is made of.
struct NormBackward {
  at::Tensor gradient;  ///< Of the output.
  at::Tensor input;
  at::Tensor weight;  ///< May be undefined.
  at::Tensor mean, inverse_deviation;
  double count;
};
struct NormGradients {
  at::Tensor input;
  at::Tensor weight, bias;  ///< This rank's part.
};

/// Collective over `group`.
NormGradients batch_norm_backward(const NormBackward& step, Communicator& group);

}  // namespace muster
