// What happens when ranks do different things, come late, leave or give up.

#include <muster/error.hpp>

#include "backends/catch.hpp"
#include "backends/ranks.hpp"
#include "backends/values.hpp"

#include <ATen/ops/zeros.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

namespace muster::test {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

/// Of all kinds of the table that connect ranks.
std::vector<std::string> kinds() {
  std::vector<std::string> names;
  for (const auto* kind : communicator_kinds()) {
    if (kind->moves_data && kind->name != "self") {
      names.emplace_back(kind->name);
    }
  }
  return names;
}

void for_kinds(int size, const std::function<void(Communicator&)>& body) {
  for (const auto& kind : kinds()) {
    INFO(kind);
    REQUIRE_NOTHROW(with_group(kind, size, body));
  }
}

TEST_CASE("a barrier that some ranks do not reach names them, and where each is") {
  for_kinds(3, [](Communicator& group) {
    group.barrier("together").wait();
    if (group.rank() == 1) {
      std::this_thread::sleep_for(700ms);
    }
    const auto error =
        error_of([&] { group.barrier("in if main").wait(group.rank() == 1 ? 10s : 300ms); });
    expect_contains(error, "barrier #2 'in if main' on rank " + std::to_string(group.rank()));
    expect_contains(error, "gave up barrier #2 'in if main' after 300 ms");
    expect_contains(error, "not started by rank 1");
    expect_contains(error, "the last collective of rank 1 here was barrier #1 'together'");
  });
}

TEST_CASE("the deadline is the one that was asked for") {
  for (const auto& kind : kinds()) {
    INFO(kind);
    std::atomic<bool> given_up = false;
    REQUIRE_NOTHROW(with_group(kind, 2, [&](Communicator& group) {
      if (group.rank() == 1) {
        while (!given_up) {  // Only the deadline can free rank 0.
          std::this_thread::sleep_for(5ms);
        }
        return;
      }
      auto tensor = at::zeros({100000});
      const auto started = Clock::now();
      const auto error =
          error_of([&] { group.all_reduce(tensor, ReduceOp::sum, "alone").wait(500ms); });
      given_up = true;
      expect(Clock::now() - started >= 500ms, "it ended before its deadline");
      expect_contains(error, "gave up all_reduce #1 'alone' after 500 ms");
    }));
  }
}

TEST_CASE("different operations at one place are an error on all ranks, with what each asked for") {
  for_kinds(3, [](Communicator& group) {
    const auto error = error_of([&] {
      auto tensor = at::zeros({4});
      if (group.rank() == 2) {
        group.broadcast(tensor, 1, "weights").wait();
      } else {
        group.all_reduce(tensor, ReduceOp::sum, "loss").wait();
      }
    });
    expect_contains(error, "ranks 0 and 1: all_reduce(sum) #1 'loss' of float32 [4]");
    expect_contains(error, "rank 2: broadcast #1 'weights' of float32 [4] from rank 1");
  });
}

TEST_CASE("shapes, dtypes and reductions that differ are an error on all ranks, small and large") {
  for (const std::int64_t rows : {1, 100000}) {
    for_kinds(2, [&](Communicator& group) {
      const auto error = error_of([&] {
        auto tensor = at::zeros({rows + group.rank(), 3});
        group.all_reduce(tensor, ReduceOp::sum, "ragged").wait();
      });
      expect_contains(error, "rank 0: all_reduce(sum) #1 'ragged' of float32 [" +
                                 std::to_string(rows) + ", 3]");
      expect_contains(error, "rank 1: all_reduce(sum) #1 'ragged' of float32 [" +
                                 std::to_string(rows + 1) + ", 3]");
    });
  }
  for_kinds(2, [](Communicator& group) {
    auto tensor = at::zeros({3}, group.rank() == 0 ? at::kFloat : at::kInt);
    expect_contains(error_of([&] { group.broadcast(tensor, 0, "x").wait(); }), "int32 [3]");
  });
  for_kinds(2, [](Communicator& group) {
    auto tensor = at::zeros({3});
    const auto op = group.rank() == 0 ? ReduceOp::min : ReduceOp::max;
    expect_contains(error_of([&] { group.all_reduce(tensor, op, "x").wait(); }), "all_reduce(min)");
  });
  for_kinds(2, [](Communicator& group) {
    auto input = at::zeros({3 + group.rank()});
    auto output = at::zeros({2 * (3 + group.rank())});
    expect_contains(error_of([&] { group.all_gather(output, input, "x").wait(); }), "float32 [4]");
  });
}

TEST_CASE("counts that differ are an error on all ranks, small and large, that names them") {
  for (const std::int64_t unit : {1, 100000}) {
    for_kinds(2, [&](Communicator& group) {
      // Rank 0 sends 3 units where rank 1 expects 2. Only rank 1 can see that; rank 0 is told.
      const auto input = at::zeros({4 * unit});
      const auto output = at::zeros({(group.rank() == 0 ? 2 : 4) * unit});
      const std::vector<std::int64_t> sent{unit, 3 * unit};
      const std::vector<std::int64_t> expected(2, (group.rank() == 0 ? 1 : 2) * unit);
      const auto error = error_of([&] {
        group.all_to_all(output, input, expected, sent, "x").wait();
        group.barrier("next").wait();
      });
      expect_contains(error, "the ranks started different operations");
      expect_contains(error, "rank 0 sends " + std::to_string(3 * unit) +
                                 " elements to rank 1, which expects " + std::to_string(2 * unit));
    });
    for_kinds(2, [&](Communicator& group) {
      const auto own = (group.rank() == 0 ? 1 : 3) * unit;
      const std::vector<std::int64_t> counts{own, 4 * unit - own};
      auto output = at::zeros({counts[static_cast<std::size_t>(group.rank())]});
      const auto error = error_of([&] {
        group.reduce_scatter(output, at::zeros({4 * unit}), {.counts = counts}, "x").wait();
      });
      expect_contains(error, "the counts are not the same");
    });
  }
}

TEST_CASE("dtypes of the result that differ are an error on all ranks, small and large") {
  for (const std::int64_t numel : {8, 1 << 20}) {
    for_kinds(2, [&](Communicator& group) {
      auto input = at::zeros({numel}, at::kBFloat16);
      auto output = at::zeros({numel / 2}, group.rank() == 0 ? at::kFloat : at::kBFloat16);
      const auto error = error_of([&] { group.reduce_scatter(output, input, "x").wait(); });
      expect_contains(error, "rank 0: reduce_scatter(sum) #1 'x' of bfloat16 [" +
                                 std::to_string(numel) + "] into float32");
      expect_contains(error,
                      "rank 1: reduce_scatter(sum) #1 'x' of bfloat16 [" + std::to_string(numel));
    });
  }
}

TEST_CASE("ranks that do not agree what is divided are told so, and so are roots") {
  for (const std::int64_t numel : {8, 1 << 20}) {
    for_kinds(2, [&](Communicator& group) {
      auto tensor = at::zeros({numel});
      const auto error =
          error_of([&] { group.all_reduce_mean(tensor, 3 + group.rank(), 1, "mean").wait(); });
      expect_contains(error, "the first 3 divided");
      expect_contains(error, "the first 4 divided");
    });
    for_kinds(3, [&](Communicator& group) {
      auto tensor = at::zeros({numel});
      const auto error =
          error_of([&] { group.broadcast(tensor, group.rank() == 2 ? 1 : 0, "x").wait(); });
      expect_contains(error, "from rank 0");
      expect_contains(error, "from rank 1");
    });
  }
}

TEST_CASE("a message that does not fit its receive is an error on both sides") {
  for (const std::int64_t numel : {4, 100000}) {
    for_kinds(2, [&](Communicator& group) {
      const auto error = error_of([&] {
        if (group.rank() == 0) {
          group.send(at::zeros({numel}), 1, 3, "activations").wait();
          group.barrier("after").wait();
        } else {
          group.receive(at::zeros({numel - 1}), 0, 3, "expected").wait();
        }
      });
      expect_contains(error,
                      "receive #1 'expected' of float32 [" + std::to_string(numel - 1) + "]");
      expect_contains(error, "send #1 'activations' of float32 [" + std::to_string(numel) + "]");
    });
  }
}

TEST_CASE("a receive that nobody sends to ends at its deadline and says so") {
  for_kinds(2, [](Communicator& group) {
    if (group.rank() == 0) {
      const auto error =
          error_of([&] { group.receive(at::zeros({2}), 1, 0, "never").wait(200ms); });
      expect_contains(error, "receive #1 'never'");
      expect_contains(error, "rank 1 did not send it");
    } else {
      std::this_thread::sleep_for(400ms);
    }
  });
}

TEST_CASE("abort frees who waits here and at peers, with the reason") {
  for_kinds(3, [](Communicator& group) {
    group.barrier("start").wait();
    std::thread other;
    if (group.rank() == 1) {
      other = std::thread([&] {
        std::this_thread::sleep_for(200ms);
        group.abort("loss is not a number");
      });
    }
    std::string error;
    if (group.rank() == 2) {
      auto tensor = at::zeros({3});
      error = error_of([&] { group.receive(tensor, 0, 0, "waits for rank 0").wait(); });
    } else {
      auto tensor = at::zeros({1000000});
      error = error_of([&] { group.all_reduce(tensor, ReduceOp::sum, "waits for rank 2").wait(); });
    }
    if (other.joinable()) {
      other.join();
    }
    expect_contains(error, "rank 1 aborted the group: loss is not a number");
  });
}

TEST_CASE("queued operations fail with the one they wait for, and so do later ones") {
  for_kinds(2, [](Communicator& group) {
    if (group.rank() == 1) {
      std::this_thread::sleep_for(500ms);
      return;
    }
    auto first = group.barrier("stuck");
    auto second = group.barrier("queued");
    const auto error = error_of([&] { second.wait(200ms); });
    expect_contains(error, "barrier #2 'queued'");
    expect_contains(error, "it is queued behind barrier #1 'stuck'");
    expect_contains(error_of([&] { first.wait(); }), "barrier #1 'stuck' on rank 0 failed");
    expect_contains(error_of([&] { group.barrier("late").wait(); }), "barrier #3 'late'");
    expect(first.done() && second.done(), "a failed operation is done");
  });
}

TEST_CASE("a rank that destroys its communicator has left: the others are told") {
  for (const auto& kind : kinds()) {
    INFO(kind);
    REQUIRE_NOTHROW(on_ranks(3, 60s, [&](const Endpoint& endpoint) {
      auto group = connect(kind, endpoint).communicator;
      group->barrier("last of rank 0").wait();
      if (endpoint.rank == 0) {
        group.reset();
        return;
      }
      const auto error = error_of([&] { group->barrier("without rank 0").wait(); });
      expect_contains(error, "rank 0 has left the group");
      expect_contains(error, "barrier #1 'last of rank 0'");
    }));
  }
}

TEST_CASE("a stuck operation does not hold up destruction") {
  for (const auto& kind : kinds()) {
    INFO(kind);
    REQUIRE_NOTHROW(on_ranks(2, 60s, [&](const Endpoint& endpoint) {
      auto group = connect(kind, endpoint).communicator;
      Work work;
      if (endpoint.rank == 0) {
        auto tensor = at::zeros({1000000});
        work = group->all_reduce(tensor, ReduceOp::sum, "stuck");
        const auto receive = group->receive(at::zeros({2}), 1, 0, "stuck too");
        const auto started = Clock::now();
        group.reset();
        expect(Clock::now() - started < 30s, "destruction waited for the operation");
        expect_contains(error_of([&] { work.wait(); }), "destroyed its communicator");
      } else {
        std::this_thread::sleep_for(1500ms);
        expect_contains(error_of([&] { group->barrier("x").wait(); }),
                        "rank 0 destroyed its communicator");
      }
    }));
  }
}

TEST_CASE("data that was sent arrives although the sender leaves at once") {
  for (const auto& kind : kinds()) {
    for (int round = 0; round < 10; ++round) {
      INFO(kind);
      REQUIRE_NOTHROW(on_ranks(3, 60s, [&](const Endpoint& endpoint) {
        auto group = connect(kind, endpoint).communicator;
        auto tensor = values(endpoint.rank, {1000003}, at::kFloat);
        group->broadcast(tensor, 0, "last words").wait();
        group.reset();
        expect(same_bits(tensor, values(0, {1000003}, at::kFloat)), "another rank's values");
      }));
    }
  }
}

TEST_CASE("a rank that never joins is named") {
  for (const auto& kind : kinds()) {
    INFO(kind);
    REQUIRE_NOTHROW(on_ranks(3, 400ms, [&](const Endpoint& endpoint) {
      if (endpoint.rank == 1) {
        std::this_thread::sleep_for(600ms);
        return;
      }
      const auto error = error_of([&] { connect(kind, endpoint); });
      expect_contains(error, "rank 1 did not come within 400 ms");
    }));
  }
}

}  // namespace
}  // namespace muster::test
