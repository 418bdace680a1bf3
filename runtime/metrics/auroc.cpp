#include <muster/error.hpp>
#include <muster/metrics.hpp>
#include <muster/tensor_text.hpp>

#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>

#include <limits>
#include <utility>

namespace muster {
namespace {

/// Twice the pairs of a positive and a negative that are in order, equal ones counted once.
/// positive: in the order of rising scores.
std::int64_t twice_in_order(const at::Tensor& scores, const at::Tensor& positive) {
  const auto* score = scores.const_data_ptr<double>();
  const auto* is_positive = positive.const_data_ptr<std::int64_t>();
  std::int64_t twice = 0, negatives_before = 0;
  for (std::int64_t begin = 0; begin < scores.numel();) {
    std::int64_t end = begin, positives = 0;
    for (; end < scores.numel() && score[end] == score[begin]; ++end) positives += is_positive[end];
    const auto negatives = end - begin - positives;
    twice += positives * (2 * negatives_before + negatives);
    negatives_before += negatives;
    begin = end;
  }
  return twice;
}

}  // namespace

void Auroc::update(const at::Tensor& scores, const at::Tensor& targets) {
  if (!scores.defined() || !targets.defined() || scores.dim() != 1 ||
      scores.sizes() != targets.sizes()) {
    throw ConfigError("Auroc: scores are " + describe_tensor(scores) + " and targets " +
                      describe_tensor(targets) + "; it takes [n] and [n]");
  }
  const auto mine = ranks_.real_rows(scores).detach().to(at::kCPU, at::kDouble, false, true);
  const auto wanted = ranks_.real_rows(targets).detach().to(at::kCPU, at::kLong, false, true);
  if (mine.isnan().any().item<bool>()) throw ConfigError("Auroc: a score is NaN");
  if (wanted.ne(0).logical_and(wanted.ne(1)).any().item<bool>()) {
    throw ConfigError("Auroc: a target is neither 0 nor 1");
  }
  scores_.push_back(mine);
  targets_.push_back(wanted);
}

double Auroc::compute() const {
  const auto none = at::empty({0}, at::kDouble);
  const std::pair mine{scores_.empty() ? none : at::cat(scores_),
                       targets_.empty() ? none.to(at::kLong) : at::cat(targets_)};
  auto [scores, targets] = ranks_.gather_uneven(
      std::pair{mine.first.to(ranks_.device()), mine.second.to(ranks_.device())});
  const auto order = scores.cpu().argsort();
  scores = scores.cpu().index({order}).contiguous();
  targets = targets.cpu().index({order}).contiguous();
  const auto positives = targets.sum().item<std::int64_t>();
  const auto negatives = targets.numel() - positives;
  if (positives == 0 || negatives == 0) return std::numeric_limits<double>::quiet_NaN();
  return static_cast<double>(twice_in_order(scores, targets)) /
         (2 * static_cast<double>(positives) * static_cast<double>(negatives));
}

void Auroc::reset() {
  scores_.clear();
  targets_.clear();
}

}  // namespace muster
