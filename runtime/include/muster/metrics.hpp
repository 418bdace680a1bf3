#pragma once

#include <muster/compensated_sum.hpp>
#include <muster/ranks.hpp>

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace muster {

// Metrics over all ranks. Each is made of an Accelerator. update() takes this rank's batch and does
// not communicate; ranks may call it for batches of any sizes and as often as they like. Rows that
// a prepared loader repeated to complete a batch are left out, so each sample counts once; what is
// no row a sample there, or equally many, throws ConfigError. compute() is collective and gives the
// same bits on all ranks; without samples NaN. reset() starts anew. Counts are whole numbers and
// sums compensated, so the result does not depend on how samples were cut in batches and ranks.

/// The mean of values, weighted.
class Mean {
 public:
  explicit Mean(const Ranks& ranks) : ranks_(ranks) {}
  /// values: any shape, one row a sample; each element counts once.
  void update(const at::Tensor& values);
  /// weights: of the shape of `values`, not negative.
  void update(const at::Tensor& values, const at::Tensor& weights);
  /// `value` is the mean of `count` numbers, none of them of a repeated sample.
  void update(double value, double count = 1);
  double compute() const;
  void reset() { sum_ = weight_ = {}; }

 private:
  Ranks ranks_;
  CompensatedSum sum_, weight_;
};

/// The share of samples whose target is among the `top_k` classes with the highest scores. Of equal
/// scores the one of the lower class is the higher; a target with the score NaN is missed.
class Accuracy {
 public:
  /// Targets equal to `ignore` do not count.
  explicit Accuracy(const Ranks& ranks, std::int64_t top_k = 1, std::int64_t ignore = -100);
  /// scores: [n, classes]; targets: [n] whole numbers. Or predictions: [n] of top 1. Throws
  /// ConfigError for other shapes.
  void update(const at::Tensor& scores, const at::Tensor& targets);
  double compute() const;
  void reset() { right_ = count_ = 0; }

 private:
  Ranks ranks_;
  std::int64_t top_k_, ignore_;
  std::int64_t right_ = 0, count_ = 0;
};

/// exp of the mean negative log-likelihood a token.
class Perplexity {
 public:
  explicit Perplexity(const Ranks& ranks, std::int64_t ignore = -100)
      : ranks_(ranks), ignore_(ignore) {}
  /// logits: [n, ..., vocabulary]; targets: [n, ...].
  void update(const at::Tensor& logits, const at::Tensor& targets);
  /// A sum of the negative log-likelihoods of `tokens` tokens.
  void update(double loss_sum, std::int64_t tokens);
  double compute() const;
  void reset();

 private:
  Ranks ranks_;
  std::int64_t ignore_;
  CompensatedSum loss_;
  std::int64_t tokens_ = 0;
};

enum class Average {
  binary,  ///< Of class 1 alone.
  macro,   ///< The mean over the classes that occur, among targets or predictions.
  micro,   ///< Of all decisions together.
};

/// The harmonic mean of precision and recall; 0 where neither can be told.
class F1 {
 public:
  explicit F1(const Ranks& ranks, std::int64_t classes = 2, Average average = Average::binary);
  /// predictions: [n] classes, or scores [n, classes], of which the highest counts; targets: [n].
  /// Throws ConfigError for a class out of range.
  void update(const at::Tensor& predictions, const at::Tensor& targets);
  double compute() const;
  void reset() { counts_.zero_(); }

 private:
  Ranks ranks_;
  Average average_;
  at::Tensor counts_;  ///< [3, classes]: found rightly, found wrongly, missed.
};

/// The area under the receiver operating characteristic of two classes: the probability that a
/// positive sample has a higher score than a negative one, equal scores counting one half. Exact,
/// so scores of all samples are kept, and gathered by compute(). NaN with one class only.
class Auroc {
 public:
  explicit Auroc(const Ranks& ranks) : ranks_(ranks) {}
  /// scores: [n], no NaN; targets: [n], 0 or 1. Throws ConfigError for others.
  void update(const at::Tensor& scores, const at::Tensor& targets);
  double compute() const;
  void reset();

 private:
  Ranks ranks_;
  std::vector<at::Tensor> scores_, targets_;
};

}  // namespace muster
