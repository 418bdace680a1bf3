#include <muster/error.hpp>
#include <muster/metrics.hpp>
#include <muster/tensor_text.hpp>

#include "metrics/shared.hpp"

#include <ATen/TensorOperators.h>

#include <cmath>
#include <limits>

namespace muster {

void Mean::update(const at::Tensor& values) {
  const auto mine = metrics::real_values(ranks_, values);
  metrics::add_all(sum_, mine);
  weight_.add(static_cast<double>(mine.numel()));
}

void Mean::update(const at::Tensor& values, const at::Tensor& weights) {
  if (values.sizes() != weights.sizes()) {
    throw ConfigError("Mean: values are " + describe_tensor(values) + " and weights " +
                      describe_tensor(weights) + "; give one weight a value");
  }
  const auto mine = metrics::real_values(ranks_, values);
  const auto shares = metrics::real_values(ranks_, weights);
  if (shares.lt(0).any().item<bool>()) throw ConfigError("Mean: a weight is negative");
  metrics::add_all(sum_, mine * shares);
  metrics::add_all(weight_, shares);
}

void Mean::update(double value, double count) {
  if (!(count >= 0)) throw ConfigError("Mean: a weight is negative");
  sum_.add(value * count);
  weight_.add(count);
}

double Mean::compute() const {
  const auto sums = metrics::sums_of_ranks(ranks_, {sum_, weight_});
  return sums[1] == 0 ? std::numeric_limits<double>::quiet_NaN() : sums[0] / sums[1];
}

}  // namespace muster
