#include <muster/error.hpp>
#include <muster/fake.hpp>

#include "backends/catch.hpp"

#include <ATen/ops/zeros.h>

#include <cmath>
#include <functional>
#include <string>

namespace muster {
namespace {

/// The message of the ConfigError that `body` throws.
std::string refusal(const std::function<void(Communicator&)>& body, int size = 4) {
  const auto group = make_fake(1, size);
  try {
    body(*group);
  } catch (const ConfigError& error) {
    CHECK(group->operations() == 0);
    return error.what();
  }
  return "(accepted)";
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_CASE("tensors that are not contiguous are refused with their strides") {
  const auto text = refusal([](auto& group) {
    group.all_reduce(at::zeros({3, 4}).t(), ReduceOp::sum, "loss");
  });
  CHECK(text ==
        "all_reduce 'loss': input of shape [4, 3] and strides [1, 4] is not contiguous; pass "
        "input.contiguous()");
  CHECK(has(refusal([](auto& group) { group.broadcast(at::zeros({1}).expand({5}), 0, "x"); }),
            "not contiguous"));
}

TEST_CASE("undefined tensors and tensors on other devices are refused") {
  CHECK(has(refusal([](auto& group) { group.broadcast({}, 0, "x"); }),
            "broadcast 'x': tensor is undefined"));
  CHECK(has(refusal([](auto& group) {
              group.broadcast(at::zeros({2}, at::TensorOptions().device(at::kMeta)), 0, "x");
            }),
            "tensor is on meta, the communicator on cpu"));
}

TEST_CASE("dtypes that a reduction has no meaning for are refused") {
  const auto reduce = [](at::ScalarType output, at::ScalarType input, ReduceOp op) {
    return refusal([&](auto& group) {
      group.all_reduce(at::zeros({2}, output), at::zeros({2}, input), op, "x");
    });
  };
  CHECK(has(reduce(at::kHalf, at::kFloat, ReduceOp::sum), "cannot reduce float32 into float16"));
  CHECK(has(reduce(at::kLong, at::kInt, ReduceOp::sum), "cannot reduce int32 into int64"));
  CHECK(has(reduce(at::kComplexFloat, at::kComplexFloat, ReduceOp::max), "no max of complex64"));
  CHECK(reduce(at::kComplexFloat, at::kComplexFloat, ReduceOp::sum) == "(accepted)");
  CHECK(reduce(at::kFloat, at::kBFloat16, ReduceOp::sum) == "(accepted)");
  const auto fp8 = refusal([](auto& group) {
    group.all_reduce(at::zeros({2}, at::kByte).view(at::kFloat8_e4m3fn), ReduceOp::sum, "x");
  });
  CHECK(has(fp8, "no sum of Float8_e4m3fn"));
}

TEST_CASE("only sums accumulate, and only what is floating has a mean") {
  for (const auto op : {ReduceOp::product, ReduceOp::min, ReduceOp::max}) {
    CHECK(has(refusal([&](auto& group) {
                group.reduce_scatter(at::zeros({2}), at::zeros({8}), {.op = op, .accumulate = true},
                                     "x");
              }),
              "only a sum accumulates, this is a " + std::string(to_string(op))));
  }
  CHECK(refusal([](auto& group) {
          group.reduce_scatter(at::zeros({2}), at::zeros({8}), {.op = ReduceOp::max}, "x");
        }) == "(accepted)");
  const auto mean = [](at::ScalarType dtype, std::int64_t divided, double count) {
    return refusal(
        [&](auto& group) { group.all_reduce_mean(at::zeros({4}, dtype), divided, count, "x"); });
  };
  CHECK(has(mean(at::kLong, 4, 1), "no mean of int64"));
  CHECK(has(mean(at::kComplexFloat, 4, 1), "no mean of complex64"));
  CHECK(has(mean(at::kFloat, 5, 1), "5 elements are to be divided, the tensor has 4"));
  CHECK(has(mean(at::kFloat, -1, 1), "-1 elements"));
  CHECK(has(mean(at::kFloat, 4, -1), "count is -1.0"));
  CHECK(has(mean(at::kFloat, 4, std::nan("")), "count is nan"));
  CHECK(mean(at::kBFloat16, 4, 0) == "(accepted)");
}

TEST_CASE("sizes and counts that do not add up are refused") {
  const auto gather = [](std::int64_t output, std::int64_t input,
                         std::vector<std::int64_t> counts) {
    return refusal([&](auto& group) {
      group.all_gather(at::zeros({output}), at::zeros({input}), counts, "x");
    });
  };
  CHECK(has(gather(7, 2, {}), "output [7] has 7 elements, expected 8 in a group of 4"));
  CHECK(has(gather(8, 2, {2, 2, 2}), "3 counts for a group of 4"));
  CHECK(has(gather(8, 2, {2, -2, 4, 4}), "a count is negative: [2, -2, 4, 4]"));
  CHECK(has(gather(8, 3, {3, 2, 2, 1}), "input [3] has 3 elements, expected 2"));
  CHECK(gather(8, 2, {3, 2, 2, 1}) == "(accepted)");
  CHECK(has(refusal([](auto& group) { group.reduce_scatter(at::zeros({2}), at::zeros({7}), "x"); }),
            "input [7] has 7 elements, expected 8"));
  CHECK(has(refusal([](auto& group) {
              group.all_reduce(at::zeros({2}), at::zeros({1, 2}), ReduceOp::sum, "x");
            }),
            "input [1, 2] and output [2] differ in shape"));
  CHECK(has(
      refusal([](auto& group) { group.all_to_all(at::zeros({8}), at::zeros({6}), {}, {}, "x"); }),
      "input [6] has 6 elements, which 4 ranks cannot share equally; pass counts"));
  CHECK(has(refusal([](auto& group) {
              const auto tensor = at::zeros({8});
              group.all_to_all(tensor, tensor, {}, {}, "x");
            }),
            "input and output are the same memory"));
  CHECK(has(refusal([](auto& group) {
              group.all_gather(at::zeros({8}), at::zeros({2}, at::kLong), "x");
            }),
            "input is int64 and output float32; they must be equal"));
}

TEST_CASE("ranks that are not in the group are refused, in a group of one too") {
  CHECK(has(refusal([](auto& group) { group.broadcast(at::zeros({2}), 4, "x"); }),
            "root is 4, the group has ranks 0 to 3"));
  CHECK(has(refusal([](auto& group) { group.send(at::zeros({2}), -1, 0, "x"); }), "peer is -1"));
  CHECK(has(refusal([](auto& group) { group.send(at::zeros({2}), 1, 0, "x"); }),
            "peer is this rank itself, 1"));
  CHECK(has(refusal([](auto& group) { group.receive(at::zeros({2}), 2, -5, "x"); }), "tag is -5"));
  const auto alone = make_fake(0, 1);
  CHECK_THROWS_AS(alone->send(at::zeros({2}), 0, 0, "x"), ConfigError);
  CHECK_THROWS_AS(make_fake(3, 3), ConfigError);
}

}  // namespace
}  // namespace muster
