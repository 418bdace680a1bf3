// What every communicator that moves data must do, for all of the table and worlds of one to four.

#include <muster/device.hpp>
#include <muster/error.hpp>

#include "backends/catch.hpp"
#include "backends/ranks.hpp"
#include "backends/values.hpp"

#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/max.h>
#include <ATen/ops/min.h>
#include <ATen/ops/zeros.h>

#include <numeric>
#include <string>
#include <vector>

namespace muster::test {
namespace {

using Shapes = std::vector<std::vector<std::int64_t>>;

/// Empty, a scalar, odd, what some letters hold, more than that, more than one chunk of each slice.
const Shapes shapes{{0}, {1, 0, 2}, {}, {1}, {3, 5}, {2047}, {20011}, {70001}, {2, 500009}};
const std::vector<at::ScalarType> sums{at::kFloat, at::kDouble,       at::kHalf,   at::kBFloat16,
                                       at::kChar,  at::kByte,         at::kShort,  at::kInt,
                                       at::kLong,  at::kComplexFloat, at::kUInt16, at::kBool};
const std::vector<at::ScalarType> moved{at::kFloat,         at::kBFloat16,     at::kShort,
                                        at::kUInt16,        at::kBool,         at::kLong,
                                        at::kFloat8_e4m3fn, at::kComplexDouble};

/// Runs `body` for each kind and size.
void for_all(const std::function<void(Communicator&)>& body) {
  for (const auto* kind : communicator_kinds()) {
    for (int size = 1; kind->moves_data && size <= 4; ++size) {
      const bool alone = kind->name == "self";
      if (alone && size > 1) {
        continue;
      }
      INFO(kind->name << ", " << size << " ranks");
      REQUIRE_NOTHROW(with_group(kind->name, size, body));
    }
  }
}

std::vector<at::Tensor> of_all(const Communicator& group, at::IntArrayRef shape,
                               at::ScalarType dtype) {
  std::vector<at::Tensor> all;
  for (int rank = 0; rank < group.size(); ++rank) {
    all.push_back(values(rank, shape, dtype));
  }
  return all;
}

std::string text(const char* what, at::ScalarType dtype, at::IntArrayRef shape) {
  std::string result = std::string(what) + " of " + c10::toString(dtype) + " [";
  for (const auto size : shape) {
    result += std::to_string(size) + " ";
  }
  return result + "]";
}

/// 0, 3, 5, 0, ...: uneven, and nothing for some.
std::vector<std::int64_t> uneven(int size, std::int64_t unit) {
  std::vector<std::int64_t> counts;
  for (int rank = 0; rank < size; ++rank) {
    counts.push_back(rank % 3 == 0 ? (size == 1 ? unit : 0) : unit * (rank % 3) + 1);
  }
  return counts;
}

TEST_CASE("all_reduce sums have the bits of one process that adds rank after rank") {
  for_all([](Communicator& group) {
    for (const auto dtype : sums) {
      for (const auto& shape : shapes) {
        const auto all = of_all(group, shape, dtype);
        auto tensor = all[static_cast<std::size_t>(group.rank())].clone();
        group.all_reduce(tensor, ReduceOp::sum, "sum").wait();
        expect(same_bits(tensor, sum_in_order(all, dtype)), text("sum", dtype, shape));
      }
    }
  });
}

TEST_CASE("all_reduce takes narrow floats into wide ones") {
  for_all([](Communicator& group) {
    for (const auto dtype : {at::kHalf, at::kBFloat16, at::kFloat}) {
      for (const auto wide : {at::kFloat, at::kDouble}) {
        for (const auto& shape : shapes) {
          const auto all = of_all(group, shape, dtype);
          auto output = at::zeros(shape, wide);
          group
              .all_reduce(output, all[static_cast<std::size_t>(group.rank())], ReduceOp::sum,
                          "widen")
              .wait();
          expect(same_bits(output, sum_in_order(all, wide)), text("widening sum", dtype, shape));
        }
      }
    }
  });
}

TEST_CASE("a mean has the bits of the sum, divided once by the counts of all ranks") {
  for_all([](Communicator& group) {
    for (const auto dtype : {at::kFloat, at::kDouble}) {
      for (const std::int64_t numel : {1, 1000, 20011, 1000003}) {
        for (const std::int64_t divided : {std::int64_t{0}, numel / 3, numel}) {
          const auto all = of_all(group, {numel}, dtype);
          const double total = group.size() * (group.size() + 1) / 2;
          auto expected = sum_in_order(all, dtype);
          device_kind(at::kCPU).kernels().scale(expected.narrow(0, 0, divided), 1.0 / total);
          auto tensor = all[static_cast<std::size_t>(group.rank())].clone();
          group.all_reduce_mean(tensor, divided, 1 + group.rank(), "mean").wait();
          expect(same_bits(tensor, expected), text("mean", dtype, {numel, divided}));
        }
      }
    }
  });
}

TEST_CASE("a mean of narrow floats is rounded once, and counts of nobody divide nothing") {
  for_all([](Communicator& group) {
    for (const std::int64_t numel : {50, 300007}) {
      const auto all = of_all(group, {numel}, at::kBFloat16);
      const auto& own = all[static_cast<std::size_t>(group.rank())];
      auto tensor = own.clone();
      group.all_reduce_mean(tensor, numel, group.rank() == 0 ? 3 : 0, "mean").wait();
      const auto mean = sum_in_order(all, at::kFloat).mul_(static_cast<float>(1.0 / 3.0));
      expect(same_bits(tensor, mean.to(at::kBFloat16)), "mean of " + std::to_string(numel));
      tensor = own.clone();
      group.all_reduce_mean(tensor, numel, 0, "of none").wait();
      expect(same_bits(tensor, sum_in_order(all, at::kBFloat16)), "divided by 0");
    }
  });
}

TEST_CASE("all_reduce finds the least and the greatest, and multiplies") {
  for_all([](Communicator& group) {
    for (const auto dtype : {at::kFloat, at::kDouble, at::kLong, at::kByte}) {
      for (const auto& shape : Shapes{{}, {5}, {70001}}) {
        const auto all = of_all(group, shape, dtype);
        auto least = all[0].clone();
        auto greatest = all[0].clone();
        auto product = all[0].clone();
        for (std::size_t i = 1; i < all.size(); ++i) {
          least = at::min(least, all[i]);
          greatest = at::max(greatest, all[i]);
          product.mul_(all[i]);
        }
        const auto& own = all[static_cast<std::size_t>(group.rank())];
        const std::vector<std::pair<ReduceOp, at::Tensor>> expected{
            {ReduceOp::min, least}, {ReduceOp::max, greatest}, {ReduceOp::product, product}};
        for (const auto& [op, result] : expected) {
          auto tensor = own.clone();
          group.all_reduce(tensor, op, "op").wait();
          expect(same_bits(tensor, result), text("reduction", dtype, shape));
        }
      }
    }
  });
}

TEST_CASE("reduce_scatter gives each rank its part, equal and uneven") {
  for_all([](Communicator& group) {
    for (const auto dtype : {at::kFloat, at::kBFloat16, at::kLong}) {
      for (const std::int64_t unit : {0, 1, 5, 40001}) {
        for (const bool equal : {true, false}) {
          const auto counts =
              equal ? std::vector<std::int64_t>(static_cast<std::size_t>(group.size()), unit)
                    : uneven(group.size(), unit);
          const auto total = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
          const auto before =
              std::accumulate(counts.begin(), counts.begin() + group.rank(), std::int64_t{0});
          const auto own = counts[static_cast<std::size_t>(group.rank())];
          const auto all = of_all(group, {total}, dtype);
          const auto sum = sum_in_order(all, dtype).narrow(0, before, own);
          auto output = at::zeros({own}, dtype);
          const auto passed = equal ? std::vector<std::int64_t>{} : counts;
          group
              .reduce_scatter(output, all[static_cast<std::size_t>(group.rank())],
                              {.counts = passed}, "rs")
              .wait();
          expect(same_bits(output, sum), text("part", dtype, {total}));
        }
      }
    }
  });
}

TEST_CASE("reduce_scatter adds rank after rank to what an accumulator holds") {
  for_all([](Communicator& group) {
    for (const std::int64_t count : {0, 3, 50021}) {
      const auto all = of_all(group, {count * group.size()}, at::kBFloat16);
      auto output = values(17, {count}, at::kFloat);
      auto expected = output.clone();
      for (const auto& rank : all) {
        expected.add_(rank.narrow(0, count * group.rank(), count).to(at::kFloat));
      }
      group
          .reduce_scatter(output, all[static_cast<std::size_t>(group.rank())], {.accumulate = true},
                          "fold")
          .wait();
      expect(same_bits(output, expected), "accumulated " + std::to_string(count));
    }
  });
}

TEST_CASE("all_gather puts the ranks' parts one after the other") {
  for_all([](Communicator& group) {
    for (const auto dtype : moved) {
      for (const auto& shape : shapes) {
        const auto all = of_all(group, shape, dtype);
        std::vector<at::Tensor> rows;
        for (const auto& rank : all) {
          rows.push_back(rank.view({-1}));
        }
        const auto expected = at::cat(rows);
        auto output = at::zeros({expected.numel()}, dtype);
        group.all_gather(output, all[static_cast<std::size_t>(group.rank())], "gather").wait();
        expect(same_bits(output, expected), text("gather", dtype, shape));
      }
    }
  });
}

TEST_CASE("all_gather takes parts of different lengths, in place too") {
  for_all([](Communicator& group) {
    for (const std::int64_t unit : {1, 30011}) {
      const auto counts = uneven(group.size(), unit);
      std::vector<at::Tensor> parts;
      for (int rank = 0; rank < group.size(); ++rank) {
        parts.push_back(values(rank, {counts[static_cast<std::size_t>(rank)]}, at::kInt));
      }
      const auto expected = at::cat(parts);
      auto output = at::zeros({expected.numel()}, at::kInt);
      const auto before =
          std::accumulate(counts.begin(), counts.begin() + group.rank(), std::int64_t{0});
      auto own = output.narrow(0, before, counts[static_cast<std::size_t>(group.rank())]);
      own.copy_(parts[static_cast<std::size_t>(group.rank())]);
      group.all_gather(output, own, counts, "uneven").wait();
      expect(same_bits(output, expected), "uneven gather of " + std::to_string(unit));
    }
  });
}

TEST_CASE("broadcast gives all ranks the root's values") {
  for_all([](Communicator& group) {
    for (const auto dtype : moved) {
      for (const auto& shape : shapes) {
        for (int root = 0; root < group.size(); ++root) {
          auto tensor = values(group.rank(), shape, dtype);
          group.broadcast(tensor, root, "broadcast").wait();
          expect(same_bits(tensor, values(root, shape, dtype)), text("broadcast", dtype, shape));
        }
      }
    }
  });
}

TEST_CASE("all_to_all sends part p to rank p, equal and uneven") {
  for_all([](Communicator& group) {
    const int size = group.size();
    for (const std::int64_t unit : {1, 20011}) {
      // Rank r sends unit * ((r + p) % 3) elements to rank p.
      std::vector<std::int64_t> sent;
      std::vector<at::Tensor> incoming;
      for (int peer = 0; peer < size; ++peer) {
        sent.push_back(unit * ((group.rank() + peer) % 3));
        std::int64_t before = 0;
        std::int64_t total = 0;
        for (int p = 0; p < size; ++p) {
          before += p < group.rank() ? unit * ((peer + p) % 3) : 0;
          total += unit * ((peer + p) % 3);
        }
        incoming.push_back(values(peer, {total}, at::kDouble).narrow(0, before, sent.back()));
      }
      const auto expected = at::cat(incoming);
      const auto input = values(
          group.rank(), {std::accumulate(sent.begin(), sent.end(), std::int64_t{0})}, at::kDouble);
      auto output = at::zeros({expected.numel()}, at::kDouble);
      group.all_to_all(output, input, sent, sent, "exchange").wait();
      expect(same_bits(output, expected), "uneven exchange of " + std::to_string(unit));

      std::vector<at::Tensor> equal;
      for (int peer = 0; peer < size; ++peer) {
        equal.push_back(
            values(peer, {unit * size}, at::kShort).narrow(0, unit * group.rank(), unit));
      }
      auto result = at::zeros({unit * size}, at::kShort);
      group
          .all_to_all(result, values(group.rank(), {unit * size}, at::kShort), {}, {},
                      "equal exchange")
          .wait();
      expect(same_bits(result, at::cat(equal)), "equal exchange of " + std::to_string(unit));
    }
  });
}

TEST_CASE("send and receive meet by peer and tag, in any order of waiting") {
  for_all([](Communicator& group) {
    for (const std::int64_t numel : {0, 7, 300007}) {
      const int next = (group.rank() + 1) % group.size();
      const int previous = (group.rank() + group.size() - 1) % group.size();
      if (next == group.rank()) {
        return;
      }
      auto first = at::zeros({numel}, at::kUInt16);
      auto second = at::zeros({numel}, at::kUInt16);
      auto other = at::zeros({numel}, at::kUInt16);
      std::vector<Work> sends;
      auto received_other = group.receive(other, previous, 9, "other tag");
      auto received_first = group.receive(first, previous, 4, "first");
      auto received_second = group.receive(second, previous, 4, "second");
      for (int i = 0; i < 2; ++i) {
        sends.push_back(
            group.send(values(10 * group.rank() + i, {numel}, at::kUInt16), next, 4, "send"));
      }
      received_second.wait();
      received_first.wait();
      sends.push_back(
          group.send(values(10 * group.rank() + 2, {numel}, at::kUInt16), next, 9, "send"));
      received_other.wait();
      for (auto& send : sends) {
        send.wait();
      }
      expect(same_bits(first, values(10 * previous, {numel}, at::kUInt16)), "first message");
      expect(same_bits(second, values(10 * previous + 1, {numel}, at::kUInt16)), "second message");
      expect(same_bits(other, values(10 * previous + 2, {numel}, at::kUInt16)),
             "message of the other tag");
    }
  });
}

TEST_CASE("operations run in the order of their calls, while the caller goes on") {
  for_all([](Communicator& group) {
    std::vector<at::Tensor> tensors;
    std::vector<Work> works;
    for (int i = 0; i < 40; ++i) {
      tensors.push_back(values(group.rank(), {i % 7 == 0 ? 100003 : i}, at::kFloat));
      works.push_back(group.all_reduce(tensors.back(), ReduceOp::sum, "one of many"));
    }
    works.back().wait();
    for (std::size_t i = 0; i < works.size(); ++i) {
      expect(works[i].done(), "operation " + std::to_string(i) + " is not done after a later one");
      expect(same_bits(tensors[i],
                       sum_in_order(of_all(group, tensors[i].sizes(), at::kFloat), at::kFloat)),
             "operation " + std::to_string(i));
    }
    expect(group.operations() == 40, "operations() is " + std::to_string(group.operations()));
    group.barrier("end").wait();
    expect(group.operations() == 41, "a barrier counts too");
  });
}

TEST_CASE("split makes groups by color, ordered by key") {
  for_all([](Communicator& group) {
    const auto part = group.split(group.rank() % 2, -group.rank());
    const int size = (group.size() + 1 - group.rank() % 2) / 2;
    expect(part->size() == size, "a part has " + std::to_string(part->size()));
    expect(part->rank() == size - 1 - group.rank() / 2, "keys do not order the ranks");
    auto tensor = values(group.rank(), {5}, at::kFloat);
    part->broadcast(tensor, 0, "in a part").wait();
    const int root = group.rank() % 2 + 2 * (size - 1);
    expect(same_bits(tensor, values(root, {5}, at::kFloat)), "a part's root is another");
    group.barrier("the whole group still works").wait();
    const auto none = group.split(group.rank() == 0 ? 0 : -1, 0);
    expect((none != nullptr) == (group.rank() == 0), "a negative color joins none");
  });
}

TEST_CASE("subgroups are of the ranks that are named, in that order") {
  for_all([](Communicator& group) {
    std::vector<int> backwards(static_cast<std::size_t>(group.size()));
    std::iota(backwards.rbegin(), backwards.rend(), 0);
    const auto part = group.subgroup(backwards);
    expect(part->size() == group.size() && part->rank() == group.size() - 1 - group.rank(),
           "another order");
    const std::vector<int> without_me{group.rank() + 1};
    bool refused = false;
    try {
      group.subgroup(without_me);
    } catch (const ConfigError&) {
      refused = true;
    }
    expect(refused, "a group without this rank was made");
  });
}

TEST_CASE("allocated tensors are of the size, dtype and device that were asked for") {
  for_all([](Communicator& group) {
    const auto tensor = group.allocate(1001, at::kBFloat16);
    expect(tensor.numel() == 1001 && tensor.scalar_type() == at::kBFloat16 &&
               tensor.device() == group.device(),
           "another tensor");
  });
}

TEST_CASE("after abort every operation throws the reason, and a new group can be made") {
  for (const auto* kind : communicator_kinds()) {
    for (int size = 1; kind->moves_data && size <= 3; ++size) {
      if (kind->name == "self" && size > 1) {
        continue;
      }
      INFO(kind->name << ", " << size << " ranks");
      REQUIRE_NOTHROW(on_ranks(size, std::chrono::seconds(60), [&](const Endpoint& endpoint) {
        auto first = connect(kind->name, endpoint).communicator;
        first->barrier("before").wait();
        if (endpoint.rank == 0) {
          first->abort("the test wants it");
        }
        const auto error = error_of([&] {
          first->barrier("after").wait();
          first->barrier("after again").wait();
        });
        expect_contains(error, "the test wants it");
        expect_contains(error, "barrier #2 'after'");
        auto another = endpoint;
        another.group = "second";
        auto second = connect(kind->name, another).communicator;
        auto tensor = values(endpoint.rank, {3}, at::kFloat);
        second->all_reduce(tensor, ReduceOp::sum, "in a new group").wait();
      }));
    }
  }
}

}  // namespace
}  // namespace muster::test
