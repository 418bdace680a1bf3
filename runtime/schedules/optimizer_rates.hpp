#pragma once

#include <muster/schedule.hpp>

#include <cstddef>
#include <vector>

namespace torch::optim {
class Optimizer;
}

namespace muster {

/// The rates of each group. Throws UnsupportedError for options without a learning rate.
std::vector<GroupRates> read_rates(torch::optim::Optimizer& optimizer);

/// Sets what there is in `rates`, one a group. Throws ModelError if there are as many groups no
/// more.
void write_rates(torch::optim::Optimizer& optimizer, const std::vector<GroupRates>& rates);

}  // namespace muster
