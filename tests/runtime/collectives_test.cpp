#include "collectives.hpp"

#include <muster/communicators.hpp>
#include <muster/fake.hpp>

#include <ATen/ATen.h>
#include <catch2/catch_test_macros.hpp>

#include <functional>

using muster::TensorLeaf;
namespace collectives = muster::collectives;

namespace {

/// On a communicator without peers, and on one that pretends that all ranks are alike.
void on_each(const std::function<void(muster::Communicator&)>& check) {
  check(*muster::connect("self", {}).communicator);
  check(*muster::make_fake(1, 3, at::kCPU));
}

std::vector<TensorLeaf> leaves_of_every_dtype() {
  std::vector<TensorLeaf> leaves;
  for (const auto dtype : {at::kBool, at::kByte, at::kChar, at::kShort, at::kInt, at::kLong,
                           at::kHalf, at::kBFloat16, at::kFloat, at::kDouble}) {
    const auto ones = at::ones({3, 2}).to(dtype);
    leaves.push_back({"[0]" + std::string(at::toString(dtype)), ones.t()});
    leaves.push_back({"[1]" + std::string(at::toString(dtype)), ones[0][0]});
    leaves.push_back({"[2]" + std::string(at::toString(dtype)), ones.narrow(0, 0, 0)});
  }
  return leaves;
}

}  // namespace

TEST_CASE("collectives of every dtype on communicators without a network") {
  const auto leaves = leaves_of_every_dtype();
  on_each([&](muster::Communicator& group) {
    const auto gathered = collectives::gather(group, leaves, false);
    const auto uneven = collectives::gather(group, leaves, true);
    const auto metrics = collectives::gather_for_metrics(group, leaves, {});
    const auto sums = collectives::reduce(group, leaves, "sum");
    const auto most = collectives::reduce(group, leaves, "max");
    const auto means = collectives::reduce(group, leaves, "mean");
    const auto padded = collectives::pad(group, leaves, {});
    for (std::size_t i = 0; i < leaves.size(); ++i) {
      const auto& mine = leaves[i].tensor;
      CAPTURE(group.name(), leaves[i].path);
      const auto rows = mine.dim() == 0 ? mine.unsqueeze(0) : mine;
      auto times = std::vector<std::int64_t>(static_cast<std::size_t>(rows.dim()), 1);
      times.front() = group.size();
      CHECK(at::equal(gathered[i], rows.repeat(times)));
      CHECK(at::equal(uneven[i], gathered[i]));
      CHECK(at::equal(metrics[i], gathered[i]));
      CHECK((sums[i] == group.size()).all().item<bool>());
      CHECK(at::equal(most[i], mine));
      CHECK((means[i] == 1).all().item<bool>());
      CHECK(at::equal(padded[i], mine));
    }
    collectives::broadcast(group, leaves, group.rank());
  });
}

TEST_CASE("a structure is one communication of data") {
  const auto group = muster::make_fake(0, 2, at::kCPU);
  const std::vector<TensorLeaf> leaves{{"[0]", at::ones({4})}, {"[1]", at::ones({3})}};
  (void)collectives::gather(*group, leaves, false);
  CHECK(group->records().size() == 3);
  (void)collectives::reduce(*group, leaves, "sum");
  CHECK(group->records().size() == 6);
  // One tensor alone needs no description of its structure.
  (void)collectives::gather(*group, {{"", at::ones({4})}}, false);
  CHECK(group->records().size() == 8);
}
