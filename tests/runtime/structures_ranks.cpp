// Run by `muster launch -n N`: every rank runs every case, in the same order.

#include <muster/accelerator.hpp>
#include <muster/data_loader.hpp>
#include <muster/error.hpp>

#include "accelerator_state.hpp"
#include "internals.hpp"

#include <ATen/ATen.h>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <limits>
#include <stdexcept>

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using muster::Accelerator;

namespace {

using Outputs = std::map<std::string, std::pair<at::Tensor, std::vector<at::Tensor>>>;
const std::vector<at::ScalarType> every_dtype{at::kBool,  at::kByte,  at::kChar, at::kShort,
                                              at::kInt,   at::kLong,  at::kHalf, at::kBFloat16,
                                              at::kFloat, at::kDouble};

/// One tensor of each dtype, not contiguous.
std::vector<at::Tensor> one_of_each(double value) {
  std::vector<at::Tensor> tensors;
  for (const auto dtype : every_dtype) {
    tensors.push_back(at::full({3, 2}, value).to(dtype).t());
  }
  return tensors;
}

std::uint64_t operations(const Accelerator& accelerator) {
  return muster::Internals::of(accelerator).data_group().operations();
}

}  // namespace

TEST_CASE("structures are gathered in one communication, beside two that compare them") {
  const Accelerator accelerator;
  const int rank = accelerator.process_index(), size = accelerator.num_processes();
  const auto mine = at::full({2, 3}, rank);
  const Outputs outputs{{"a", {mine, {mine.to(at::kHalf).t(), at::scalar_tensor(rank)}}},
                        {"b", {at::empty({1, 0, 2}), {}}}};
  const auto before = operations(accelerator);
  const auto all = accelerator.gather(outputs);
  CHECK(operations(accelerator) - before <= 3);
  const auto& [first, rest] = all.at("a");
  CHECK(at::equal(first, accelerator.gather(mine)));
  CHECK(at::equal(rest[0], accelerator.gather(mine.to(at::kHalf).t())));
  CHECK(at::equal(rest[1], at::arange(size, at::kFloat)));
  CHECK(all.at("b").first.sizes() == at::IntArrayRef({size, 0, 2}));
  const auto nothing = accelerator.gather(std::vector<at::Tensor>{});
  CHECK(nothing.empty());
}

TEST_CASE("every dtype at once: gather, reduce, broadcast, pad") {
  const Accelerator accelerator;
  const int rank = accelerator.process_index(), size = accelerator.num_processes();
  const auto mine = one_of_each(rank + 1);
  const auto gathered = accelerator.gather(mine);
  const auto sums = accelerator.reduce(mine), least = accelerator.reduce(mine, "min");
  const auto most = accelerator.reduce(mine, "max"), means = accelerator.reduce(mine, "mean");
  const auto padded = accelerator.pad_across_processes(mine, 1);
  auto sent = one_of_each(rank);
  accelerator.broadcast(sent, size - 1);
  for (std::size_t i = 0; i < every_dtype.size(); ++i) {
    const auto dtype = every_dtype[i];
    CAPTURE(at::toString(dtype));
    CHECK(at::equal(gathered[i], accelerator.gather(mine[i])));
    CHECK(at::equal(sums[i], accelerator.reduce(mine[i])));
    CHECK(at::equal(means[i], accelerator.reduce(mine[i], "mean")));
    CHECK(at::equal(least[i], at::ones({2, 3}).to(dtype)));
    CHECK(at::equal(most[i], at::full({2, 3}, size).to(dtype)));
    CHECK(most[i].scalar_type() == dtype);
    CHECK(at::equal(padded[i], mine[i]));
    CHECK(at::equal(sent[i], at::full({2, 3}, size - 1).to(dtype)));
  }
}

TEST_CASE("tuples, pairs, optionals and arrays keep their form") {
  const Accelerator accelerator;
  const auto one = at::ones({1});
  const std::tuple structure{one, std::optional<at::Tensor>(one), std::optional<at::Tensor>(),
                             std::array<at::Tensor, 2>{one, one}};
  const auto sums = accelerator.reduce(structure);
  CHECK(std::get<0>(sums).item<int>() == accelerator.num_processes());
  CHECK(std::get<1>(sums).has_value());
  CHECK_FALSE(std::get<2>(sums).has_value());
  CHECK(std::get<3>(sums)[1].item<int>() == accelerator.num_processes());
}

TEST_CASE("structures that differ between ranks are an error on all ranks, by name") {
  const Accelerator accelerator;
  if (accelerator.num_processes() == 1) return;
  const bool main = accelerator.is_main_process();
  const auto one = at::ones({2});
  std::map<std::string, at::Tensor> names{{"loss", one}};
  if (!main) names = {{"logits", one}};
  CHECK_THROWS_MATCHES(
      accelerator.gather(names), muster::ModelError,
      MessageMatches(ContainsSubstring("rank 0: 1 tensors, gather of [\"loss\"]") &&
                     ContainsSubstring("rank 1: 1 tensors, gather of [\"logits\"")));
  const std::vector<at::Tensor> list(main ? 2 : 3, one);
  CHECK_THROWS_MATCHES(accelerator.reduce(list), muster::ModelError,
                       MessageMatches(ContainsSubstring("first in tensor 2") &&
                                      ContainsSubstring("rank 0: 2 tensors, and no such one")));
  const std::vector<at::Tensor> shapes{one, main ? one : at::ones({3})};
  CHECK_THROWS_MATCHES(accelerator.gather(shapes), muster::ModelError,
                       MessageMatches(ContainsSubstring("rank 0: gather of [1]: [2] float32") &&
                                      ContainsSubstring("rank 1: gather of [1]: [3] float32")));
  const auto other = [&] {
    if (main) {
      (void)accelerator.gather(one);
    } else {
      (void)accelerator.gather(std::vector<at::Tensor>{one, one});
    }
  };
  CHECK_THROWS_MATCHES(other(), muster::ModelError,
                       MessageMatches(ContainsSubstring("rank 1: gather of a structure of 2")));
  CHECK(accelerator.gather(one).numel() == 2 * accelerator.num_processes());
}

TEST_CASE("gather_uneven takes rows of any number") {
  const Accelerator accelerator;
  const int rank = accelerator.process_index(), size = accelerator.num_processes();
  const auto rows = at::full({rank, 3}, rank);
  const auto [all, flags] =
      accelerator.gather_uneven(std::pair{rows, at::ones({2 * rank}, at::kBool)});
  std::vector<at::Tensor> expected;
  for (int other = 0; other < size; ++other) expected.push_back(at::full({other, 3}, other));
  CHECK(at::equal(all, at::cat(expected)));
  CHECK(at::equal(accelerator.gather_uneven(rows), all));
  CHECK(flags.numel() == size * (size - 1));
  // Rows on one rank only.
  const auto alone = accelerator.gather_uneven(at::full({rank == size - 1 ? 4 : 0, 2}, rank));
  CHECK(at::equal(alone, at::full({4, 2}, size - 1)));
}

TEST_CASE("gather_for_metrics of a structure has each sample once, and real_rows this rank's") {
  Accelerator accelerator;
  const auto ids = at::arange(9);
  auto loader =
      accelerator.prepare(muster::DataLoader(muster::TensorDataset(ids, ids), {.batch_size = 5}));
  std::vector<at::Tensor> seen, own;
  for (auto& item : loader) {
    const std::map<std::string, at::Tensor> columns{{"id", item.data},
                                                    {"twice", item.data.repeat_interleave(2)}};
    const auto all = accelerator.gather_for_metrics(columns);
    seen.push_back(all.at("id"));
    CHECK(at::equal(all.at("twice"), all.at("id").repeat_interleave(2)));
    const auto mine = accelerator.real_rows(item.data);
    CHECK(at::equal(accelerator.gather_uneven(mine), all.at("id")));
    if (accelerator.num_processes() > 1) {
      CHECK_THROWS_AS(accelerator.real_rows(item.data.to(at::kFloat).mean()), muster::ConfigError);
    }
  }
  CHECK(at::equal(at::cat(seen), ids));
}

TEST_CASE("reduce knows max and min, NaN wins, and refuses none") {
  const Accelerator accelerator;
  const int rank = accelerator.process_index(), size = accelerator.num_processes();
  const auto mine = at::scalar_tensor(rank) * 2;
  CHECK(accelerator.reduce(mine, "max").item<int>() == 2 * (size - 1));
  CHECK(accelerator.reduce(mine, "min").item<int>() == 0);
  CHECK(accelerator.reduce(mine == 0, "max").item<bool>());
  CHECK(accelerator.reduce(mine == 0, "min").item<bool>() == (size == 1));
  const auto nan = at::scalar_tensor(rank == 0 ? std::numeric_limits<double>::quiet_NaN() : 1.0);
  CHECK(accelerator.reduce(nan, "max").isnan().item<bool>());
  CHECK_THROWS_MATCHES(accelerator.reduce(mine, "none"), muster::ConfigError,
                       MessageMatches(ContainsSubstring("there are sum, mean, max, min")));
  CHECK_THROWS_AS(accelerator.reduce(at::complex(mine, mine), "max"), muster::ConfigError);
}

TEST_CASE("objects of any length go to all ranks, exactly") {
  const Accelerator accelerator;
  const int rank = accelerator.process_index(), size = accelerator.num_processes();
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, std::size_t{5} << 20}) {
    // Of different lengths, with zeros inside.
    std::string mine(bytes * static_cast<std::size_t>(rank + 1), '\0');
    if (!mine.empty()) mine.back() = static_cast<char>('a' + rank);
    const auto all = accelerator.gather_object(mine);
    REQUIRE(all.size() == static_cast<std::size_t>(size));
    for (int other = 0; other < size; ++other) {
      const auto& text = all[static_cast<std::size_t>(other)];
      REQUIRE(text.size() == bytes * static_cast<std::size_t>(other + 1));
      CHECK((text.empty() || text.back() == 'a' + other));
    }
    CHECK(accelerator.broadcast_object(rank == size - 1 ? mine : "", size - 1) == all.back());
  }
  CHECK(accelerator.broadcast_object("{\"rank\": " + std::to_string(rank) + "}") ==
        "{\"rank\": 0}");
  CHECK_THROWS_AS(accelerator.broadcast_object("", size), muster::ConfigError);
}

TEST_CASE("scatter gives each rank its rows, or its part of a list") {
  const Accelerator accelerator;
  const int rank = accelerator.process_index(), size = accelerator.num_processes();
  const auto rows = at::arange(14).view({7, 2}).t().contiguous().t();
  const auto expected = accelerator.split_between_processes(rows);
  CHECK(at::equal(accelerator.scatter(rank == 0 ? rows : at::Tensor()), expected));
  std::vector<at::Tensor> parts;
  for (int part = 0; part < size && rank == size - 1; ++part) {
    parts.push_back(part % 2 == 0 ? at::full({part + 1}, part) : at::full({}, part, at::kHalf));
  }
  const auto mine = accelerator.scatter(parts, size - 1);
  CHECK(mine.dim() == (rank % 2 == 0 ? 1 : 0));
  CHECK((mine == rank).all().item<bool>());
  CHECK(mine.scalar_type() == (rank % 2 == 0 ? at::kLong : at::kHalf));
  for (const auto dtype : every_dtype) {
    const auto all = at::arange(size).to(dtype);
    CHECK(at::equal(accelerator.scatter(all), all.narrow(0, rank, 1)));
  }
  CHECK_THROWS_AS(accelerator.scatter(at::Tensor()), muster::ConfigError);
  CHECK_THROWS_AS(accelerator.scatter(at::ones({2}), size), muster::ConfigError);
  CHECK_THROWS_MATCHES(accelerator.scatter(std::vector<at::Tensor>(5, at::ones({1}))),
                       muster::ConfigError, MessageMatches(ContainsSubstring("5 parts for")));
}

TEST_CASE("a trigger of one rank is seen by all, once") {
  Accelerator accelerator;
  CHECK_FALSE(accelerator.check_trigger());
  if (accelerator.is_last_process()) accelerator.set_trigger();
  CHECK(accelerator.check_trigger());
  CHECK_FALSE(accelerator.check_trigger());
}

TEST_CASE("a different kind of call on one rank is named on all") {
  Accelerator accelerator;
  if (accelerator.num_processes() == 1) return;
  const auto other = [&] {
    if (accelerator.is_main_process()) {
      (void)accelerator.gather_object("text");
    } else {
      (void)accelerator.gather(at::ones({2}));
    }
  };
  CHECK_THROWS_MATCHES(other(), muster::ModelError,
                       MessageMatches(ContainsSubstring("rank 0: gather_object of an object") &&
                                      ContainsSubstring("rank 1: gather of [2] float32")));
  CHECK_FALSE(accelerator.check_trigger());
}

TEST_CASE("split_between_processes of maps") {
  const Accelerator accelerator;
  const int rank = accelerator.process_index(), size = accelerator.num_processes();
  const std::map<std::string, at::Tensor> columns{{"a", at::arange(7)}, {"b", at::ones({7, 2})}};
  const auto mine = accelerator.split_between_processes(columns);
  CHECK(at::equal(accelerator.gather_uneven(mine).at("a"), at::arange(7)));
  CHECK(mine.at("b").size(0) == mine.at("a").size(0));
  const std::map<std::string, std::vector<std::string>> texts{{"x", {"p", "q", "r"}}};
  const auto part = accelerator.split_between_processes(texts, /*padding=*/true).at("x");
  CHECK(part.size() == static_cast<std::size_t>((3 + size - 1) / size));
  if (rank == 0) CHECK(part.front() == "p");
  const std::map<std::string, at::Tensor> ragged{{"a", at::ones({2})}, {"b", at::ones({3})}};
  CHECK_THROWS_MATCHES(accelerator.split_between_processes(ragged), muster::ConfigError,
                       MessageMatches(ContainsSubstring("'a' has 2 items and 'b' 3")));
}

TEST_CASE("guards: the first rank is alone in the block, and its exception reaches all") {
  const Accelerator accelerator;
  const bool main = accelerator.is_main_process();
  const auto path = std::filesystem::temp_directory_path() /
                    ("muster-guard-" +
                     std::string(std::getenv("MASTER_PORT") ? std::getenv("MASTER_PORT") : "0"));
  for (const bool local : {false, true}) {
    {
      const auto first =
          local ? accelerator.local_main_process_first() : accelerator.main_process_first();
      CHECK((main || std::filesystem::exists(path)));
      if (main) std::filesystem::create_directory(path);
    }
    accelerator.wait_for_everyone();
    accelerator.on_local_main_process([&] { std::filesystem::remove(path); });
    accelerator.wait_for_everyone();
    const auto fail = [&] {
      const auto first =
          local ? accelerator.local_main_process_first() : accelerator.main_process_first();
      throw std::runtime_error("no such disk");
    };
    if (main) {
      CHECK_THROWS_MATCHES(fail(), std::runtime_error,
                           MessageMatches(ContainsSubstring("no such disk")));
    } else {
      CHECK_THROWS_MATCHES(fail(), muster::Error,
                           MessageMatches(ContainsSubstring("rank 0 failed in")));
    }
  }
  int calls = 0;
  accelerator.local_main_process_first([&] { ++calls; });
  accelerator.on_process(accelerator.num_processes() - 1, [&] { ++calls; });
  accelerator.on_last_process([&] { ++calls; });
  CHECK(calls == (accelerator.is_last_process() ? 3 : 1));
  CHECK_THROWS_AS(accelerator.on_process(-1, [] {}), muster::ConfigError);
}

TEST_CASE("seeds: equal on all ranks, or different and reproducible") {
  const Accelerator accelerator;
  accelerator.set_seed(42);
  const auto equal = at::randn({4});
  CHECK(at::equal(accelerator.gather(equal), equal.repeat({accelerator.num_processes()})));
  accelerator.set_seed(42, /*per_rank=*/true);
  const auto own = at::randn({4});
  const auto all = accelerator.gather(own).view({-1, 4});
  for (int other = 0; other < accelerator.num_processes(); ++other) {
    CHECK(at::equal(all[other], own) == (other == accelerator.process_index()));
  }
  accelerator.set_seed(42, /*per_rank=*/true);
  CHECK(at::equal(at::randn({4}), own));
}

TEST_CASE("states of generators: each rank its own, and a rule for another number of ranks") {
  const Accelerator accelerator;
  const int rank = accelerator.process_index(), size = accelerator.num_processes();
  accelerator.set_seed(7, /*per_rank=*/true);
  (void)at::randn({3 * (rank + 1)});  // Each has used another amount.
  std::vector<muster::RngState> saved;
  for (const auto& bytes : accelerator.gather_object(accelerator.rng_state().to_bytes())) {
    saved.push_back(muster::RngState::from_bytes(bytes));
  }
  const auto next = at::randn({5});
  accelerator.set_rng_state(muster::rng_state_for(rank, saved));
  CHECK(at::equal(at::randn({5}), next));
  // Ranks that were not there: distinct streams, the same each time.
  std::vector<at::Tensor> streams;
  for (const int other : {0, size, size + 1, 2 * size + 1, size}) {
    accelerator.set_rng_state(muster::rng_state_for(other, saved));
    streams.push_back(at::randn({5}));
  }
  for (std::size_t i = 0; i < 4; ++i) {
    for (std::size_t j = 0; j < i; ++j) CHECK_FALSE(at::equal(streams[i], streams[j]));
  }
  CHECK(at::equal(streams[1], streams[4]));
  auto damaged = saved.front().to_bytes();
  damaged[damaged.size() / 2] ^= 1;
  CHECK_THROWS_AS(muster::RngState::from_bytes(damaged), muster::CheckpointError);
  CHECK_THROWS_AS(muster::RngState::from_bytes(damaged.substr(0, 9)), muster::CheckpointError);
  CHECK_THROWS_AS(muster::rng_state_for(0, {}), muster::CheckpointError);
}
