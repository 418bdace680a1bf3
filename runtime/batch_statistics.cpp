#include "batch_statistics.hpp"

#include <muster/error.hpp>

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <cmath>
#include <string>
#include <vector>

namespace muster {
namespace {

/// All dimensions but that of channels.
std::vector<std::int64_t> all_but_channels(const at::Tensor& tensor) {
  std::vector<std::int64_t> dimensions{0};
  for (std::int64_t dimension = 2; dimension < tensor.dim(); ++dimension) {
    dimensions.push_back(dimension);
  }
  return dimensions;
}

/// values: [channels], to be spread over a tensor like `like`.
at::Tensor per_channel(const at::Tensor& values, const at::Tensor& like) {
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(like.dim()), 1);
  sizes[1] = values.size(0);
  return values.view(sizes);
}

/// [2 * channels + 1]: mean and squared deviations from it a channel, and how many values.
at::Tensor own_moments(const at::Tensor& input) {
  const auto channels = input.size(1);
  auto moments = at::zeros({2 * channels + 1}, input.options().dtype(at::kDouble));
  const auto count = channels == 0 ? 0 : input.numel() / channels;
  if (count == 0) return moments;
  const auto wide = input.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
  const auto [variance, mean] =
      at::var_mean(input.to(wide), all_but_channels(input), /*correction=*/0);
  moments.narrow(0, 0, channels).copy_(mean);
  moments.narrow(0, channels, channels).copy_(variance).mul_(static_cast<double>(count));
  moments[2 * channels].fill_(static_cast<double>(count));
  return moments;
}

}  // namespace

BatchStatistics batch_statistics(const at::Tensor& input, Communicator& group) {
  const at::NoGradGuard no_grad;
  const auto channels = input.size(1);
  const auto own = own_moments(input.detach());
  const auto every = at::empty({group.size(), own.size(0)}, own.options());
  group.all_gather(every, own, "batch norm").wait();
  auto mean = at::zeros({channels}, own.options());
  auto deviations = at::zeros({channels}, own.options());
  double count = 0;
  for (int rank = 0; rank < group.size(); ++rank) {
    const auto values = every[rank][2 * channels].item<double>();
    if (values == 0) continue;
    // Chan, Golub and LeVeque (1979): moments of two sets joined.
    const auto apart = every[rank].narrow(0, 0, channels) - mean;
    const double share = values / (count + values);
    mean.add_(apart, share);
    deviations.add_(every[rank].narrow(0, channels, channels))
        .addcmul_(apart, apart, count * share);
    count += values;
  }
  if (count <= 1) {
    throw ModelError("batch norm: the batches of all ranks have " +
                     std::to_string(static_cast<std::int64_t>(count)) +
                     " value a channel together; training needs two or more");
  }
  const auto dtype = input.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
  return {mean.to(dtype), deviations.div_(count).to(dtype), count};
}

NormGradients batch_norm_backward(const NormBackward& step, Communicator& group) {
  const auto dtype = step.mean.scalar_type();
  const auto gradient = step.gradient.to(dtype);
  const auto centred = step.input.to(dtype) - per_channel(step.mean, step.input);
  const auto dimensions = all_but_channels(step.input);
  const auto channels = step.mean.size(0);
  const auto own = at::cat({gradient.sum(dimensions, false, at::kDouble),
                            (gradient * centred).sum(dimensions, false, at::kDouble)});
  auto sums = own.clone();
  group.all_reduce(sums, ReduceOp::sum, "batch norm backward").wait();
  sums.div_(step.count);
  const auto mean_gradient = sums.narrow(0, 0, channels).to(dtype);
  const auto slope = sums.narrow(0, channels, channels).to(dtype) * step.inverse_deviation.square();

  NormGradients result;
  const auto scale = step.weight.defined() ? step.weight.to(dtype) * step.inverse_deviation
                                           : step.inverse_deviation;
  result.input =
      (gradient - per_channel(mean_gradient, gradient) - centred * per_channel(slope, gradient))
          .mul_(per_channel(scale, gradient))
          .to(step.input.scalar_type());
  if (step.weight.defined()) {
    result.weight =
        (own.narrow(0, channels, channels) * step.inverse_deviation).to(step.weight.scalar_type());
    result.bias = own.narrow(0, 0, channels).to(step.weight.scalar_type());
  }
  return result;
}

}  // namespace muster
