#include <muster/error.hpp>
#include <muster/metrics.hpp>
#include <muster/tensor_text.hpp>

#include "metrics/shared.hpp"

#include <ATen/ops/bincount.h>
#include <ATen/ops/zeros.h>

#include <limits>

namespace muster {
namespace {

double f1_of(std::int64_t found, std::int64_t wrong, std::int64_t missed) {
  const auto all = 2 * found + wrong + missed;
  return all == 0 ? 0 : 2 * static_cast<double>(found) / static_cast<double>(all);
}

void check_classes(const at::Tensor& classes, const char* what, std::int64_t count) {
  if (classes.numel() == 0) return;
  const auto least = classes.min().item<std::int64_t>(), most = classes.max().item<std::int64_t>();
  if (least >= 0 && most < count) return;
  throw ConfigError(std::string("F1: ") + what + " has class " +
                    std::to_string(least < 0 ? least : most) + "; there are 0 to " +
                    std::to_string(count - 1));
}

}  // namespace

F1::F1(const Ranks& ranks, std::int64_t classes, Average average)
    : ranks_(ranks), average_(average) {
  if (classes < 2 || (average == Average::binary && classes != 2)) {
    throw ConfigError("F1: " + std::to_string(classes) +
                      " classes; it takes 2, or with "
                      "Average::macro or Average::micro more");
  }
  counts_ = at::zeros({3, classes}, at::kLong);
}

void F1::update(const at::Tensor& predictions, const at::Tensor& targets) {
  const auto classes = counts_.size(1);
  if (!predictions.defined() || !targets.defined() || targets.dim() != 1 || predictions.dim() < 1 ||
      predictions.dim() > 2 || predictions.size(0) != targets.size(0) ||
      (predictions.dim() == 2 && predictions.size(1) != classes)) {
    throw ConfigError("F1: predictions are " + describe_tensor(predictions) + " and targets " +
                      describe_tensor(targets) + "; it takes [n] or [n, " +
                      std::to_string(classes) + "], and [n]");
  }
  const auto mine = metrics::classes_of(ranks_.real_rows(predictions));
  const auto wanted = metrics::classes_of(ranks_.real_rows(targets));
  check_classes(mine, "a prediction", classes);
  check_classes(wanted, "a target", classes);
  const auto right = mine.eq(wanted), wrong = right.logical_not();
  counts_[0] += at::bincount(wanted.index({right}), {}, classes);
  counts_[1] += at::bincount(mine.index({wrong}), {}, classes);
  counts_[2] += at::bincount(wanted.index({wrong}), {}, classes);
}

double F1::compute() const {
  const auto all = ranks_.reduce(counts_.to(ranks_.device())).cpu();
  const auto counts = all.accessor<std::int64_t, 2>();
  if (all.sum().item<std::int64_t>() == 0) return std::numeric_limits<double>::quiet_NaN();
  if (average_ == Average::binary) return f1_of(counts[0][1], counts[1][1], counts[2][1]);
  if (average_ == Average::micro) {
    const auto sums = all.sum(1);
    const auto of_all = sums.accessor<std::int64_t, 1>();
    return f1_of(of_all[0], of_all[1], of_all[2]);
  }
  double sum = 0;
  std::int64_t occurring = 0;
  for (std::int64_t i = 0; i < all.size(1); ++i) {
    if (counts[0][i] + counts[1][i] + counts[2][i] == 0) continue;
    sum += f1_of(counts[0][i], counts[1][i], counts[2][i]);
    ++occurring;
  }
  return sum / static_cast<double>(occurring);
}

}  // namespace muster
