#include <muster/error.hpp>
#include <muster/metrics.hpp>
#include <muster/tensor_text.hpp>

#include <ATen/ops/arange.h>
#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/stack.h>

#include <limits>

namespace muster {
namespace {

/// Whether each target [n] is among the top_k of scores [n, classes].
at::Tensor among_highest(const at::Tensor& scores, const at::Tensor& targets, std::int64_t top_k) {
  const auto own = scores.gather(1, targets.unsqueeze(1));
  const auto lower = at::arange(scores.size(1)).unsqueeze(0).lt(targets.unsqueeze(1));
  const auto ahead = scores.gt(own).logical_or(scores.eq(own).logical_and(lower)).sum(1);
  return ahead.lt(top_k).logical_and(own.squeeze(1).isnan().logical_not());
}

void check_shapes(const at::Tensor& scores, const at::Tensor& targets, std::int64_t top_k) {
  const bool predictions = scores.defined() && scores.dim() == 1 && top_k == 1;
  if (scores.defined() && targets.defined() && targets.dim() == 1 &&
      (predictions || scores.dim() == 2) && scores.size(0) == targets.size(0)) {
    return;
  }
  throw ConfigError("Accuracy: scores are " + describe_tensor(scores) + " and targets " +
                    describe_tensor(targets) + "; it takes [n, classes] and [n]" +
                    (top_k == 1 ? ", or predictions [n] and [n]" : ""));
}

}  // namespace

Accuracy::Accuracy(const Ranks& ranks, std::int64_t top_k, std::int64_t ignore)
    : ranks_(ranks), top_k_(top_k), ignore_(ignore) {
  if (top_k < 1) throw ConfigError("Accuracy: top_k is " + std::to_string(top_k) + "; 1 or more");
}

void Accuracy::update(const at::Tensor& scores, const at::Tensor& targets) {
  check_shapes(scores, targets, top_k_);
  auto mine = ranks_.real_rows(scores).detach().cpu();
  auto wanted = ranks_.real_rows(targets).detach().to(at::kCPU, at::kLong);
  const auto counted = wanted.ne(ignore_);
  mine = mine.index({counted});
  wanted = wanted.index({counted});
  if (mine.dim() == 2 && wanted.numel() > 0 &&
      (wanted.min().item<std::int64_t>() < 0 ||
       wanted.max().item<std::int64_t>() >= mine.size(1))) {
    throw ConfigError("Accuracy: a target is none of " + std::to_string(mine.size(1)) +
                      " classes, nor " + std::to_string(ignore_) + ", which does not count");
  }
  const auto right = mine.dim() == 1 ? mine.eq(wanted) : among_highest(mine, wanted, top_k_);
  right_ += right.sum().item<std::int64_t>();
  count_ += wanted.numel();
}

double Accuracy::compute() const {
  const auto mine =
      at::stack({at::scalar_tensor(right_, at::kLong), at::scalar_tensor(count_, at::kLong)});
  const auto all = ranks_.reduce(mine.to(ranks_.device())).cpu();
  const auto count = all[1].item<std::int64_t>();
  if (count == 0) return std::numeric_limits<double>::quiet_NaN();
  return static_cast<double>(all[0].item<std::int64_t>()) / static_cast<double>(count);
}

}  // namespace muster
