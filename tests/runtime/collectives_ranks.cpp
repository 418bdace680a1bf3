// Run by `muster launch -n N`: every rank runs every case, in the same order.

#include <muster/accelerator.hpp>
#include <muster/data_loader.hpp>
#include <muster/error.hpp>

#include <ATen/ATen.h>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <chrono>
#include <thread>

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using muster::Accelerator;

namespace {

/// Rows 0, 1, ... of `count` ranks: what gather() of one row a rank gives.
at::Tensor ranks_of(const Accelerator& accelerator) {
  return at::arange(accelerator.num_processes());
}

}  // namespace

TEST_CASE("gather puts the rows of all ranks in rank order, for every dtype") {
  const Accelerator accelerator;
  for (const auto dtype : {at::kBool, at::kByte, at::kChar, at::kShort, at::kInt, at::kLong,
                           at::kHalf, at::kBFloat16, at::kFloat, at::kDouble, at::kComplexFloat}) {
    const auto mine = at::full({2, 3}, accelerator.process_index()).to(dtype);
    const auto all = accelerator.gather(mine);
    const auto expected = ranks_of(accelerator).repeat_interleave(2).unsqueeze(1).expand({-1, 3});
    CHECK(all.scalar_type() == dtype);
    CHECK(at::equal(all, expected.to(dtype)));
  }
}

TEST_CASE("gather of 0-dim and of empty tensors") {
  const Accelerator accelerator;
  const auto numbers =
      accelerator.gather(at::scalar_tensor(accelerator.process_index(), at::kLong));
  CHECK(at::equal(numbers, ranks_of(accelerator)));
  const auto nothing = accelerator.gather(at::empty({1, 0, 2}));
  CHECK(nothing.sizes() == at::IntArrayRef({accelerator.num_processes(), 0, 2}));
}

TEST_CASE("tensors that are not contiguous count as what they show") {
  const Accelerator accelerator;
  const auto base = at::arange(24, at::kFloat).view({4, 6}) + 100 * accelerator.process_index();
  for (const auto& view : {base.t(), base.slice(1, 0, 6, 2), base[0].expand({3, 6})}) {
    CHECK(at::equal(accelerator.gather(view), accelerator.gather(view.contiguous())));
    CHECK(at::equal(accelerator.reduce(view), accelerator.reduce(view.contiguous())));
  }
}

TEST_CASE("broadcast writes through a view, and nothing around it") {
  const Accelerator accelerator;
  const int last = accelerator.num_processes() - 1;
  auto whole = at::full({4, 4}, accelerator.process_index(), at::kFloat);
  const auto column = accelerator.broadcast(whole.select(1, 2), last);
  CHECK(at::equal(column, at::full({4}, last, at::kFloat)));
  auto expected = at::full({4, 4}, accelerator.process_index(), at::kFloat);
  expected.select(1, 2).fill_(last);
  CHECK(at::equal(whole, expected));
  CHECK_THROWS_AS(accelerator.broadcast(whole, last + 1), muster::ConfigError);
}

TEST_CASE("reduce sums and averages") {
  const Accelerator accelerator;
  const int size = accelerator.num_processes(), sum = size * (size + 1) / 2;
  const auto mine = [&](at::ScalarType dtype) {
    return at::full({5}, accelerator.process_index() + 1).to(dtype);
  };
  for (const auto dtype : {at::kFloat, at::kDouble, at::kBFloat16, at::kHalf, at::kInt, at::kShort,
                           at::kByte, at::kLong}) {
    const auto result = accelerator.reduce(mine(dtype));
    CHECK(result.scalar_type() == dtype);
    CHECK(at::equal(result, at::full({5}, sum).to(dtype)));
  }
  CHECK(at::equal(accelerator.reduce(mine(at::kBool)), at::full({5}, size, at::kLong)));
  const auto mean = accelerator.reduce(mine(at::kInt), "mean");
  CHECK(mean.scalar_type() == at::kFloat);
  CHECK(at::allclose(mean, at::full({5}, sum / static_cast<double>(size), at::kFloat)));
  CHECK_THROWS_MATCHES(accelerator.reduce(mine(at::kFloat), "median"), muster::ConfigError,
                       MessageMatches(ContainsSubstring("there are sum, mean, max, min")));
}

TEST_CASE("results carry no gradient and leave the argument alone") {
  const Accelerator accelerator;
  const auto mine = at::ones({2}).requires_grad_();
  CHECK_FALSE(accelerator.gather(mine).requires_grad());
  CHECK_FALSE(accelerator.reduce(mine).requires_grad());
  CHECK(at::equal(mine, at::ones({2})));
}

TEST_CASE("shapes that differ are an error on all ranks, with what each has") {
  const Accelerator accelerator;
  if (accelerator.num_processes() == 1) return;
  const auto ragged = at::ones({accelerator.process_index() + 1, 3});
  CHECK_THROWS_MATCHES(accelerator.gather(ragged), muster::ModelError,
                       MessageMatches(ContainsSubstring("rank 0: gather of [1, 3] float32") &&
                                      ContainsSubstring("rank 1: gather of [2, 3] float32")));
  const auto dtype = accelerator.is_main_process() ? at::kFloat : at::kLong;
  CHECK_THROWS_MATCHES(accelerator.reduce(at::ones({3}, dtype)), muster::ModelError,
                       MessageMatches(ContainsSubstring("rank 1: reduce sum of [3] int64")));
  const auto other = [&] {
    return accelerator.is_main_process() ? accelerator.gather(at::ones({3}))
                                         : accelerator.reduce(at::ones({3}));
  };
  CHECK_THROWS_MATCHES(other(), muster::ModelError,
                       MessageMatches(ContainsSubstring("rank 0: gather")));
  // The group is as good as before.
  CHECK(at::equal(accelerator.gather(at::ones({1})), at::ones({accelerator.num_processes()})));
}

TEST_CASE("a tensor that cannot take part, on one rank or all, is an error on all ranks") {
  const Accelerator accelerator;
  const bool odd = accelerator.process_index() == accelerator.num_processes() - 1;
  const auto good = at::ones({2, 3});
  const std::vector<at::Tensor> bad{at::Tensor(), at::ones({1, 1, 1, 1, 1, 1, 1, 1, 1}),
                                    at::ones({2, 3}).to_sparse()};
  for (const auto& tensor : bad) {
    CHECK_THROWS_AS(accelerator.gather(tensor), muster::ConfigError);
    CHECK_THROWS_AS(accelerator.gather_for_metrics(tensor), muster::ConfigError);
    CHECK_THROWS_AS(accelerator.reduce(tensor), muster::ConfigError);
    CHECK_THROWS_AS(accelerator.broadcast(tensor), muster::ConfigError);
    CHECK_THROWS_AS(accelerator.pad_across_processes(tensor), muster::ConfigError);
    if (accelerator.num_processes() == 1) continue;
    CHECK_THROWS_AS(accelerator.gather(odd ? tensor : good), muster::ModelError);
    CHECK_THROWS_AS(accelerator.gather_for_metrics(odd ? good : tensor), muster::ModelError);
    CHECK_THROWS_AS(accelerator.reduce(odd ? tensor : good), muster::ModelError);
    CHECK_THROWS_AS(accelerator.broadcast(odd ? tensor : good), muster::ModelError);
    CHECK_THROWS_AS(accelerator.pad_across_processes(odd ? tensor : good), muster::ModelError);
  }
  CHECK(at::equal(accelerator.gather(at::ones({1})), at::ones({accelerator.num_processes()})));
}

TEST_CASE("arguments that differ are an error on all ranks") {
  const Accelerator accelerator;
  if (accelerator.num_processes() == 1) return;
  const bool main = accelerator.is_main_process();
  const auto tensor = at::ones({2, 3});
  CHECK_THROWS_MATCHES(
      accelerator.broadcast(tensor, main ? 0 : 1), muster::ModelError,
      MessageMatches(ContainsSubstring("rank 1: broadcast from rank 1 of [2, 3]")));
  CHECK_THROWS_AS(accelerator.broadcast(tensor, main ? 0 : -1), muster::ModelError);
  CHECK_THROWS_MATCHES(accelerator.reduce(tensor, main ? "max" : "sum"), muster::ModelError,
                       MessageMatches(ContainsSubstring("rank 0: reduce max of [2, 3]")));
  CHECK_THROWS_AS(accelerator.pad_across_processes(tensor, main ? 0 : 1), muster::ModelError);
  CHECK(at::equal(accelerator.gather(at::ones({1})), at::ones({accelerator.num_processes()})));
}

TEST_CASE("lazy conjugates and negatives are moved as the values that they stand for") {
  const Accelerator accelerator;
  const auto size = accelerator.num_processes();
  const auto values = at::complex(at::arange(3.0), at::arange(3.0) + 1);
  const auto conjugate = values.conj();
  const auto expected = conjugate.resolve_conj();
  REQUIRE(conjugate.is_conj());
  CHECK(at::equal(accelerator.gather(conjugate), expected.repeat({size})));
  CHECK(at::equal(accelerator.gather_for_metrics(conjugate), expected.repeat({size})));
  CHECK(at::equal(accelerator.reduce(conjugate), expected * size));
  CHECK(at::equal(accelerator.pad_across_processes(conjugate), expected));
  const auto negative = at::imag(conjugate);
  REQUIRE(negative.is_neg());
  CHECK(at::equal(accelerator.gather(negative), negative.resolve_neg().repeat({size})));
  // Overwritten through the view: what it stands for is rank 0's.
  auto mine = values * (accelerator.process_index() + 1);
  accelerator.broadcast(mine.conj());
  CHECK(at::equal(mine, values));
}

TEST_CASE("float8 is moved, and refused where it would be added") {
  const Accelerator accelerator;
  const auto eighth = at::ones({4}).to(at::ScalarType::Float8_e5m2);
  CHECK(accelerator.gather(eighth).numel() == 4 * accelerator.num_processes());
  CHECK_THROWS_MATCHES(accelerator.reduce(eighth), muster::ConfigError,
                       MessageMatches(ContainsSubstring("convert it to float32")));
}

TEST_CASE("pad_across_processes makes shapes equal") {
  const Accelerator accelerator;
  const int rank = accelerator.process_index(), size = accelerator.num_processes();
  const auto ragged = at::full({rank + 1, 3}, rank + 1, at::kFloat);
  const auto after = accelerator.pad_across_processes(ragged, 0, -1);
  REQUIRE(after.sizes() == at::IntArrayRef({size, 3}));
  CHECK(at::equal(after.narrow(0, 0, rank + 1), ragged));
  CHECK((after.narrow(0, rank + 1, size - rank - 1) == -1).all().item<bool>());
  const auto before = accelerator.pad_across_processes(ragged, -2, -1, /*pad_first=*/true);
  CHECK(at::equal(before.narrow(0, size - rank - 1, rank + 1), ragged));
  CHECK(accelerator.gather(after).sizes() == at::IntArrayRef({size * size, 3}));
  CHECK_THROWS_AS(accelerator.pad_across_processes(ragged, 2), muster::ConfigError);
}

TEST_CASE("gather_for_metrics has each sample once") {
  Accelerator accelerator;
  for (const std::int64_t count : {1, 2, 7, 8, 9, 97, 100}) {
    for (const std::int64_t batch : {1, 4, 16}) {
      const auto ids = at::arange(count);
      auto loader = accelerator.prepare(
          muster::DataLoader(muster::TensorDataset(ids, ids), {.batch_size = batch}));
      std::vector<at::Tensor> seen;
      for (auto& item : loader) seen.push_back(accelerator.gather_for_metrics(item.data));
      CHECK(at::equal(at::cat(seen), ids));
    }
  }
}

TEST_CASE("gather_for_metrics with several rows a sample") {
  Accelerator accelerator;
  const auto ids = at::arange(7);
  auto loader =
      accelerator.prepare(muster::DataLoader(muster::TensorDataset(ids, ids), {.batch_size = 4}));
  std::vector<at::Tensor> seen;
  for (auto& item : loader) {
    seen.push_back(accelerator.gather_for_metrics(item.data.repeat_interleave(3)));
    if (accelerator.num_processes() == 1) continue;
    CHECK_THROWS_AS(accelerator.gather_for_metrics(at::ones({item.data.size(0) - 1})),
                    muster::ConfigError);
  }
  CHECK(at::equal(at::cat(seen), ids.repeat_interleave(3)));
}

TEST_CASE("gather_for_metrics takes several tensors, and ranks with different numbers of rows") {
  const Accelerator accelerator;
  const int rank = accelerator.process_index(), size = accelerator.num_processes();
  const auto rows = at::full({rank, 2}, rank);
  const auto [first, second] = accelerator.gather_for_metrics(rows, rows + 1);
  CHECK(first.size(0) == size * (size - 1) / 2);
  CHECK(at::equal(first + 1, second));
  CHECK(first.sum().item<std::int64_t>() == (size - 1) * size * (2 * size - 1) / 6 * 2);
}

TEST_CASE("a number that was reduced before it was gathered is refused in a completed batch") {
  Accelerator accelerator;
  const auto values = at::arange(9, at::kFloat);
  const std::int64_t batch = 5;
  auto loader = accelerator.prepare(
      muster::DataLoader(muster::TensorDataset(values, values), {.batch_size = batch}));
  double sum = 0;
  std::int64_t count = 0;
  for (auto& item : loader) {
    const auto all = accelerator.gather_for_metrics(item.data);
    sum += all.sum().item<double>();
    count += all.numel();
    const bool completed = accelerator.num_processes() > 1;
    if (completed) {
      CHECK_THROWS_AS(accelerator.gather_for_metrics(item.data.mean()), muster::ConfigError);
    }
  }
  CHECK(sum / static_cast<double>(count) == 4);
}

TEST_CASE("rows a sample that differ between ranks are an error on all ranks") {
  Accelerator accelerator;
  if (accelerator.num_processes() == 1) return;
  const auto ids = at::arange(9);
  auto loader =
      accelerator.prepare(muster::DataLoader(muster::TensorDataset(ids, ids), {.batch_size = 5}));
  const bool odd = accelerator.process_index() == 1;
  for (auto& item : loader) {
    CHECK_THROWS_MATCHES(
        accelerator.gather_for_metrics(item.data.repeat_interleave(odd ? 2 : 1)),
        muster::ModelError,
        MessageMatches(ContainsSubstring("rank 1: gather_for_metrics with 2 rows a sample of "
                                         "[10] int64")));
    CHECK_THROWS_AS(accelerator.gather_for_metrics(odd ? at::ones({3}, at::kLong) : item.data),
                    muster::ModelError);
    CHECK_THROWS_AS(accelerator.gather_for_metrics(at::ones({3})), muster::ConfigError);
    CHECK(at::equal(accelerator.gather_for_metrics(item.data), ids));
  }
}

TEST_CASE("main_process_first: order, and a failure reaches all") {
  const Accelerator accelerator;
  const auto path = std::filesystem::temp_directory_path() /
                    ("muster-first-" +
                     std::string(std::getenv("MASTER_PORT") ? std::getenv("MASTER_PORT") : "0"));
  accelerator.main_process_first([&] {
    if (accelerator.is_main_process()) {
      std::filesystem::create_directory(path);
    } else {
      CHECK(std::filesystem::exists(path));
    }
  });
  accelerator.wait_for_everyone();
  accelerator.on_main_process([&] { std::filesystem::remove(path); });
  CHECK_THROWS_MATCHES(
      accelerator.main_process_first([] { throw std::runtime_error("no such disk"); }),
      std::runtime_error, MessageMatches(ContainsSubstring("no such disk")));
  if (accelerator.is_main_process()) {
    CHECK_THROWS_AS(accelerator.main_process_first([] { throw 17; }), int);
  } else {
    CHECK_THROWS_MATCHES(accelerator.main_process_first([] {}), muster::Error,
                         MessageMatches(ContainsSubstring("rank 0 failed")));
  }
}

TEST_CASE("split_between_processes is complete and in order") {
  const Accelerator accelerator;
  for (const int count : {0, 1, 2, 7, 8}) {
    const auto rows = at::arange(count);
    const auto mine = accelerator.split_between_processes(rows);
    CHECK(at::equal(accelerator.gather_for_metrics(mine), rows));
    if (count == 0) continue;
    const auto padded = accelerator.split_between_processes(rows, /*padding=*/true);
    const int size = accelerator.num_processes();
    CHECK(padded.size(0) == (count + size - 1) / size);
    CHECK(at::equal(padded.narrow(0, 0, mine.size(0)), mine));
    std::vector<std::int64_t> items(static_cast<std::size_t>(count));
    for (int i = 0; i < count; ++i) items[static_cast<std::size_t>(i)] = i;
    const auto part = accelerator.split_between_processes(items, true);
    CHECK(at::equal(padded, at::tensor(at::ArrayRef<std::int64_t>(part), at::kLong)));
  }
}

TEST_CASE("a rank that waits alone ends with an error that has the label") {
  using namespace std::chrono_literals;
  Accelerator accelerator({.comm_timeout = 2s});
  if (accelerator.num_processes() == 1) return;
  if (accelerator.is_main_process()) {
    CHECK_THROWS_MATCHES(accelerator.wait_for_everyone("the end of main's work"),
                         muster::CommunicationError,
                         MessageMatches(ContainsSubstring("the end of main's work")));
  } else {
    std::this_thread::sleep_for(4s);
  }
}

TEST_CASE("after a lost group a new one works") {
  const Accelerator accelerator;
  CHECK(accelerator.gather(at::ones({1})).numel() == accelerator.num_processes());
}

TEST_CASE("an Accelerator leaves a lost group, and a new one joins again") {
  using namespace std::chrono_literals;
  Accelerator first({.comm_timeout = 2s});
  if (first.num_processes() == 1) return;
  if (first.is_main_process()) {
    CHECK_THROWS_AS(first.wait_for_everyone(), muster::CommunicationError);
  } else {
    std::this_thread::sleep_for(4s);
  }
  CHECK_THROWS_AS(first.end_training(), muster::CommunicationError);
  const Accelerator second;
  CHECK(second.gather(at::ones({1})).numel() == second.num_processes());
}

TEST_CASE("end_training leaves the group, and a new Accelerator joins again") {
  Accelerator first;
  first.end_training();
  CHECK_THROWS_AS(first.gather(at::ones({1})), muster::CommunicationError);
  const Accelerator second;
  CHECK(second.gather(at::ones({1})).numel() == second.num_processes());
}
