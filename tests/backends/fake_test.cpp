#include <muster/communicators.hpp>
#include <muster/error.hpp>
#include <muster/fake.hpp>

#include "backends/catch.hpp"

#include <ATen/ops/arange.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <ATen/ops/zeros.h>

#include <vector>

namespace muster {
namespace {

TEST_CASE("a fake rank records what it is asked for") {
  const auto group = make_fake(3, 8);
  group->all_reduce(at::zeros({10}, at::kBFloat16), ReduceOp::sum, "gradients 1/2").wait();
  group->broadcast(at::zeros({2, 2}), 5, "weights").wait();
  group->barrier("end").wait();
  const auto& records = group->records();
  REQUIRE(records.size() == 3);
  CHECK(records[0].kind == Operation::Kind::all_reduce);
  CHECK(records[0].sequence == 1);
  CHECK(records[0].label == "gradients 1/2");
  CHECK(records[0].bytes == 20);
  CHECK(records[0].dtype == at::kBFloat16);
  CHECK(records[1].peer == 5);
  CHECK(records[1].bytes == 16);
  CHECK(records[2].sequence == 3);
  CHECK(records[2].dtype == at::ScalarType::Undefined);
}

TEST_CASE("a fake world looks as if all ranks held the same") {
  const auto group = make_fake(1, 4);
  auto tensor = at::full({3}, 2.0);
  group->all_reduce(tensor, ReduceOp::sum, "x").wait();
  CHECK(at::equal(tensor, at::full({3}, 8.0)));
  group->all_reduce(tensor, ReduceOp::max, "x").wait();
  CHECK(at::equal(tensor, at::full({3}, 8.0)));

  auto gathered = at::zeros({8});
  group->all_gather(gathered, at::arange(2).to(at::kFloat), "x").wait();
  CHECK(at::equal(gathered, at::arange(8).remainder(2).to(at::kFloat)));

  auto part = at::full({2}, 100.0);
  const auto input = at::arange(8).to(at::kFloat);
  group->reduce_scatter(part, input, {.accumulate = true}, "x").wait();
  CHECK(at::equal(part, at::arange(2).to(at::kFloat).add(2).mul(4).add(100)));

  auto exchanged = at::zeros({8});
  group->all_to_all(exchanged, input, {}, {}, "x").wait();
  CHECK(at::equal(exchanged, at::arange(8).remainder(2).add(2).to(at::kFloat)));

  auto received = at::full({3}, 7.0);
  group->receive(received, 0, 0, "x").wait();
  CHECK(at::equal(received, at::zeros({3})));
}

TEST_CASE("a fake world reduces integers that wrap around, and divides means") {
  const auto group = make_fake(0, 1000);
  auto bytes = at::full({2}, 3, at::kChar);
  group->all_reduce(bytes, ReduceOp::sum, "x").wait();
  CHECK(at::equal(bytes, at::full({2}, static_cast<std::int8_t>(3000), at::kChar)));
  auto shorts = at::full({2}, 3, at::kInt).to(at::kUInt16);
  group->all_reduce(shorts, ReduceOp::sum, "x").wait();
  CHECK(at::equal(shorts.to(at::kLong), at::full({2}, 3000, at::kLong)));
  auto accumulated = at::full({1}, 7, at::kInt).to(at::kUInt16);
  group
      ->reduce_scatter(accumulated, at::full({1000}, 2, at::kInt).to(at::kUInt16),
                       {.accumulate = true}, "x")
      .wait();
  CHECK(at::equal(accumulated.to(at::kLong), at::full({1}, 2007, at::kLong)));
  auto gradients = at::full({3}, 6.0);
  make_fake(0, 8)->all_reduce_mean(gradients, 2, 4, "x").wait();
  CHECK(at::equal(gradients.narrow(0, 0, 2), at::full({2}, 1.5)));
  CHECK(gradients[2].item<float>() == 48.0F);
}

TEST_CASE("a fake rank can be split off, aborted and connected by name") {
  const auto group = make_fake(5, 8);
  const std::vector<int> ranks{1, 5, 3};
  const auto part = group->subgroup(ranks);
  CHECK(part->size() == 3);
  CHECK(part->rank() == 1);
  group->abort("enough");
  CHECK_THROWS_AS(group->barrier("x"), CommunicationError);
  Endpoint endpoint;
  endpoint.rank = 900;
  endpoint.size = 1000;
  CHECK(connect("fake", endpoint).communicator->size() == 1000);
}

}  // namespace
}  // namespace muster
