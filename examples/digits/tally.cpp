#include "tally.hpp"

#include <ATen/ops/tensor.h>

#include <algorithm>
#include <cstdio>

namespace digits {

void Tally::add(const at::Tensor& loss, const at::Tensor& scores, const at::Tensor& target) {
  ++steps_;
  images_ += target.size(0);
  right_ += scores.detach().argmax(1).eq(target).sum().item<std::int64_t>();
  loss_ += loss.item<double>() * static_cast<double>(target.size(0));
}

std::string Tally::text() const {
  const auto images = static_cast<double>(std::max<std::int64_t>(images_, 1));
  char text[64];
  std::snprintf(text, sizeof text, "loss %.3f  accuracy %.3f", loss_ / images,
                static_cast<double>(right_) / images);
  return text;
}

Tally Tally::over_all_ranks(const muster::Accelerator& accelerator) const {
  const auto sums = accelerator.reduce(
      at::tensor({static_cast<double>(images_), static_cast<double>(right_), loss_}, at::kDouble));
  Tally all;
  all.steps_ = steps_;
  all.images_ = sums[0].item<std::int64_t>();
  all.right_ = sums[1].item<std::int64_t>();
  all.loss_ = sums[2].item<double>();
  return all;
}

}  // namespace digits
