#include <muster/error.hpp>
#include <muster/metrics.hpp>
#include <muster/tensor_text.hpp>

#include "metrics/shared.hpp"

#include <ATen/ops/log_softmax.h>

#include <cmath>
#include <limits>

namespace muster {

void Perplexity::update(const at::Tensor& logits, const at::Tensor& targets) {
  if (!logits.defined() || !targets.defined() || logits.dim() != targets.dim() + 1 ||
      targets.dim() < 1 ||
      logits.sizes().slice(0, static_cast<std::size_t>(targets.dim())) != targets.sizes()) {
    throw ConfigError("Perplexity: logits are " + describe_tensor(logits) + " and targets " +
                      describe_tensor(targets) + "; it takes [n, ..., vocabulary] and [n, ...]");
  }
  const auto vocabulary = logits.size(-1);
  const auto mine = ranks_.real_rows(logits).detach().reshape({-1, vocabulary});
  const auto wanted = ranks_.real_rows(targets).detach().to(at::kLong).reshape(-1);
  const auto counted = wanted.ne(ignore_);
  const auto rows = mine.index({counted});
  const auto tokens = wanted.index({counted});
  if (tokens.numel() == 0) return;
  if (tokens.min().item<std::int64_t>() < 0 || tokens.max().item<std::int64_t>() >= vocabulary) {
    throw ConfigError("Perplexity: a target is not in the vocabulary of " +
                      std::to_string(vocabulary));
  }
  const auto losses = at::log_softmax(rows, 1, at::kDouble).gather(1, tokens.unsqueeze(1)).neg();
  metrics::add_all(loss_, losses.cpu().reshape(-1).contiguous());
  tokens_ += tokens.numel();
}

void Perplexity::update(double loss_sum, std::int64_t tokens) {
  if (tokens < 0) throw ConfigError("Perplexity: a number of tokens is negative");
  loss_.add(loss_sum);
  tokens_ += tokens;
}

double Perplexity::compute() const {
  // Counts below 2^53 are exact as doubles too.
  const auto sums =
      metrics::sums_of_ranks(ranks_, {loss_, CompensatedSum(static_cast<double>(tokens_), 0)});
  return sums[1] == 0 ? std::numeric_limits<double>::quiet_NaN() : std::exp(sums[0] / sums[1]);
}

void Perplexity::reset() {
  loss_ = {};
  tokens_ = 0;
}

}  // namespace muster
