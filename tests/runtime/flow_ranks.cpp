// Run by `muster launch -n N`: every rank runs every case, in the same order.

#include <muster/accelerator.hpp>
#include <muster/data_loader.hpp>
#include <muster/error.hpp>
#include <muster/local_sgd.hpp>
#include <muster/logger.hpp>
#include <muster/out_of_memory.hpp>
#include <muster/profile.hpp>
#include <muster/step_timer.hpp>

#include "internals.hpp"
#include "nets.hpp"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <nlohmann/json.hpp>

#include <chrono>
#include <cmath>
#include <fstream>
#include <new>
#include <stdexcept>
#include <thread>

using Catch::Approx;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using muster::Accelerator;
namespace F = torch::nn::functional;

namespace {

/// What the allocator of LibTorch says of more memory than there is.
void run_out_of_memory() { (void)torch::empty({std::int64_t{1} << 46}); }

std::filesystem::path shared_folder(const Accelerator& accelerator, const std::string& name) {
  return std::filesystem::temp_directory_path() /
         accelerator.broadcast_object("muster-" + name + "-" + std::to_string(getpid()));
}

/// Of a model whose rows weigh alike: this rank's rows of a batch of all ranks.
struct Rows {
  explicit Rows(const Accelerator& accelerator) {
    torch::manual_seed(3);
    const auto all = torch::randn({accelerator.num_processes() * 12, 8});
    const auto labels = torch::randint(4, {accelerator.num_processes() * 12});
    data = accelerator.split_between_processes(all);
    target = accelerator.split_between_processes(labels);
  }
  torch::Tensor data, target;
};

}  // namespace

TEST_CASE("errors of allocators are told from others") {
  const auto is_one = [](auto&& work) {
    try {
      work();
    } catch (...) {
      return muster::is_out_of_memory(std::current_exception());
    }
    throw std::logic_error("nothing was thrown");
  };
  CHECK(is_one(run_out_of_memory));
  CHECK(is_one([] { throw std::bad_alloc(); }));
  CHECK(is_one([] { throw std::runtime_error("CUDA error: out of memory"); }));
  CHECK_FALSE(is_one([] { throw std::runtime_error("an illegal memory access"); }));
  CHECK_FALSE(is_one([] { throw 17; }));
  CHECK_FALSE(is_one([] { (void)torch::ones({2}).view({3}); }));
}

TEST_CASE("find_executable_batch_size: one rank's want of memory makes all try less") {
  Accelerator accelerator;
  const bool poor = accelerator.is_last_process();
  std::vector<std::int64_t> tried;
  const auto result = muster::find_executable_batch_size(accelerator, 100, [&](std::int64_t size) {
    tried.push_back(size);
    // The others are in a collective by then, or in the next.
    if (poor && size > 30) run_out_of_memory();
    (void)accelerator.reduce(torch::ones({4}));
    auto model = accelerator.prepare(std::make_shared<muster::test::Mlp>());
    return accelerator.gather(torch::full({1}, size));
  });
  CHECK(tried == std::vector<std::int64_t>{100, 50, 25});
  CHECK(at::equal(result, torch::full({accelerator.num_processes()}, 25)));
  CHECK(accelerator.gather(torch::ones({1})).numel() == accelerator.num_processes());
}

TEST_CASE("find_executable_batch_size: ranks that wait in a batch norm are freed too") {
  Accelerator accelerator({.sync_batch_norm = true});
  const bool poor = accelerator.is_last_process();
  std::vector<std::int64_t> tried;
  muster::find_executable_batch_size(accelerator, 8, [&](std::int64_t size) {
    tried.push_back(size);
    auto module = std::make_shared<torch::nn::SequentialImpl>(torch::nn::Linear(4, 4),
                                                              torch::nn::BatchNorm1d(4));
    auto model = accelerator.prepare(module);
    if (poor && size > 2) run_out_of_memory();
    accelerator.backward(model(torch::ones({size, 4})).sum());
  });
  CHECK(tried == std::vector<std::int64_t>{8, 4, 2});
}

TEST_CASE("find_executable_batch_size: without collectives, another rule, other errors, nothing") {
  Accelerator accelerator;
  std::vector<std::int64_t> tried;
  muster::find_executable_batch_size(
      accelerator, 10,
      [&](std::int64_t size) {
        tried.push_back(size);
        if (accelerator.is_main_process() && size > 8) throw std::bad_alloc();
      },
      [](std::int64_t size) { return size * 9 / 10; });
  CHECK(tried == std::vector<std::int64_t>{10, 9, 8});
  CHECK_THROWS_MATCHES(
      muster::find_executable_batch_size(
          accelerator, 4, [](std::int64_t) { throw std::runtime_error("no such file"); }),
      std::runtime_error, MessageMatches(ContainsSubstring("no such file")));
  CHECK_THROWS_AS(muster::find_executable_batch_size(accelerator, 2,
                                                     [](std::int64_t) { throw std::bad_alloc(); }),
                  muster::OutOfMemory);
  CHECK_THROWS_AS(muster::find_executable_batch_size(accelerator, 0, [](std::int64_t) {}),
                  muster::ConfigError);
  CHECK(accelerator.gather(torch::ones({1})).numel() == accelerator.num_processes());
}

TEST_CASE("try_step: gradients of the whole batch, however often a rank ran out of memory") {
  const auto gradients = [](std::int64_t most_rows, int where) {
    Accelerator accelerator;
    torch::manual_seed(1);
    auto net = std::make_shared<muster::test::Mlp>();
    auto [model, optimizer] =
        accelerator.prepare(net, torch::optim::SGD(net->parameters(), /*lr=*/0.1));
    const Rows rows(accelerator);
    const bool poor = accelerator.is_last_process();
    torch::Tensor loss;
    for (int step = 0; step < 2; ++step) {
      loss = muster::try_step(
          accelerator, model, std::pair{rows.data, rows.target}, [&](const auto& part) {
            const bool too_many = poor && part.first.size(0) > most_rows;
            if (too_many && where == 0) run_out_of_memory();
            auto output = model(part.first);
            // In the middle of backward, when some buckets may be on their way.
            if (too_many && where == 1) {
              output.register_hook([](const torch::Tensor&) { run_out_of_memory(); });
            }
            return F::cross_entropy(output, part.second);
          });
      optimizer.step();
      optimizer.zero_grad();
    }
    auto result = muster::test::copies(net->parameters());
    result.push_back(accelerator.reduce(loss, "mean"));
    result.push_back(torch::full({1}, static_cast<double>(optimizer.steps())));
    return result;
  };
  const auto whole = gradients(100, 0);
  CHECK(whole.back().item<int>() == 2);
  for (const int where : {0, 1}) {
    for (const std::int64_t most_rows : {6, 3, 1}) {
      CAPTURE(where, most_rows);
      CHECK(muster::test::differing(gradients(most_rows, where), whole, 1e-6).empty());
    }
  }
}

TEST_CASE(
    "try_step: where one row does not fit, all ranks say on which and what fills the memory") {
  Accelerator accelerator;
  auto net = std::make_shared<muster::test::Mlp>();
  auto [model, optimizer] =
      accelerator.prepare(net, torch::optim::SGD(net->parameters(), /*lr=*/0.1));
  const Rows rows(accelerator);
  const auto fail = [&] {
    (void)muster::try_step(accelerator, model, rows, [&](const Rows& part) {
      if (accelerator.is_last_process()) run_out_of_memory();
      return F::cross_entropy(model(part.data), part.target);
    });
  };
  const auto last = std::to_string(accelerator.num_processes() - 1);
  CHECK_THROWS_MATCHES(fail(), muster::OutOfMemory,
                       MessageMatches(ContainsSubstring("rank " + last +
                                                        " ran out of memory in a "
                                                        "micro-step of 1 rows: parameters") &&
                                      ContainsSubstring("activations and others")));
  CHECK_THROWS_AS(muster::try_step(accelerator, model, torch::ones({}),
                                   [](const torch::Tensor& t) { return t; }),
                  muster::ConfigError);
  Accelerator several({.gradient_accumulation_steps = 2});
  CHECK_THROWS_AS(
      muster::try_step(several, model, rows.data, [](const torch::Tensor& t) { return t.sum(); }),
      muster::ConfigError);
}

TEST_CASE("LocalSGD: the numbers that Accelerate gives, in one communication of data a mean") {
  Accelerator accelerator;
  if (accelerator.num_processes() != 2) return;
  const double gradient = accelerator.process_index() + 1;
  auto net = std::make_shared<torch::nn::LinearImpl>(torch::nn::LinearOptions(1, 1).bias(false));
  net->weight.set_data(torch::zeros({1, 1}));
  auto [model, optimizer] =
      accelerator.prepare(net, torch::optim::SGD(net->parameters(), /*lr=*/1.0));
  std::vector<double> weights;
  muster::LocalSGD local(accelerator, model, 3);
  const auto& group = muster::Internals::of(accelerator).data_group();
  const auto before = group.operations();
  for (int step = 0; step < 5; ++step) {
    accelerator.backward(model(torch::full({1, 1}, gradient)).sum());
    optimizer.step();
    optimizer.zero_grad();
    local.step();
    weights.push_back(net->weight.item<double>());
  }
  CHECK(group.operations() - before == 1);
  local.finish();
  weights.push_back(net->weight.item<double>());
  CHECK(weights == (accelerator.is_main_process()
                        ? std::vector<double>{-1, -2, -4.5, -5.5, -6.5, -7.5}
                        : std::vector<double>{-2, -4, -4.5, -6.5, -8.5, -7.5}));
  CHECK(local.averages() == 2);
  // Gradients are exchanged again.
  accelerator.backward(model(torch::full({1, 1}, gradient)).sum());
  optimizer.step();
  CHECK(net->weight.item<double>() == -9);
}

TEST_CASE("LocalSGD: buffers of whole numbers are no means, and optimizers keep their state") {
  Accelerator accelerator;
  auto net = std::make_shared<muster::test::Normed>();
  auto [model, optimizer] =
      accelerator.prepare(net, torch::optim::AdamW(net->parameters(), /*lr=*/0.01));
  torch::manual_seed(static_cast<std::uint64_t>(accelerator.process_index()));
  auto train = [&, model = model, optimizer = optimizer]() mutable {
    accelerator.backward(model(torch::randn({6, 8})).square().mean());
    optimizer.step();
    optimizer.zero_grad();
  };
  train();
  {
    muster::LocalSGD local(accelerator, model, 2);
    for (int step = 0; step < 4; ++step) {
      train();
      local.step();
    }
    local.finish();
  }
  train();
  CHECK(optimizer.steps() == 6);
  CHECK(net->norm->num_batches_tracked.item<int>() == 6);
  for (const auto& parameter : net->parameters()) {
    const auto all = accelerator.gather(parameter.reshape({1, -1}));
    CHECK(at::equal(all, all.narrow(0, 0, 1).expand_as(all)));
  }
  CHECK_THROWS_AS(muster::LocalSGD(accelerator, model, 0), muster::ConfigError);
}

TEST_CASE("memory: what models, gradients and optimizers hold") {
  Accelerator accelerator;
  auto net = std::make_shared<muster::test::Normed>();
  auto [model, optimizer] =
      accelerator.prepare(net, torch::optim::AdamW(net->parameters(), /*lr=*/0.01));
  accelerator.backward(model(torch::randn({6, 8})).square().mean());
  std::int64_t parameters = 0, buffers = 0;
  for (const auto& tensor : net->parameters()) parameters += std::int64_t(tensor.nbytes());
  for (const auto& tensor : net->buffers()) buffers += std::int64_t(tensor.nbytes());
  const auto before = accelerator.memory();
  optimizer.step();
  const auto use = accelerator.memory();
  CHECK(use.parameters == parameters);
  CHECK(use.buffers == buffers);
  CHECK(before.gradients == parameters);
  CHECK(use.optimizer == 2 * parameters);
  CHECK(use.resident > 10 << 20);
  CHECK(use.peak >= use.resident / 2);
  CHECK_THAT(use.to_text(), ContainsSubstring("optimizer 0.0 MiB, activations and others"));
}

TEST_CASE("the parts of a step are the whole, and the slow rank is named") {
  using namespace std::chrono_literals;
  Accelerator accelerator;
  auto net = std::make_shared<muster::test::Mlp>();
  auto [model, optimizer, loader] = accelerator.prepare(
      net, torch::optim::SGD(net->parameters(), /*lr=*/0.01),
      muster::DataLoader(muster::TensorDataset(torch::randn({64, 8}), torch::randint(4, {64})),
                         {.batch_size = 8}));
  muster::StepTimer timer(accelerator, {.flops_per_sample = 1e3, .peak_flops = 1e9});
  const bool slow = accelerator.is_last_process();
  for (auto& batch : loader) {
    if (slow) std::this_thread::sleep_for(20ms);
    const auto step = accelerator.accumulate(model);
    accelerator.backward(F::cross_entropy(model(batch.data), batch.target));
    optimizer.step();
    optimizer.zero_grad();
    const auto begin = std::chrono::steady_clock::now();
    timer.step(batch.data.size(0));
    CHECK(timer.last().total() > 0);
    CHECK(timer.last().update > 0);
    CHECK((begin <= std::chrono::steady_clock::now()));
  }
  const auto state = timer.state();
  const auto report = timer.report();
  REQUIRE(report.ranks.size() == static_cast<std::size_t>(accelerator.num_processes()));
  CHECK(report.steps == loader.size());
  CHECK(report.slowest == accelerator.num_processes() - 1);
  CHECK(report.slowest_because == (accelerator.num_processes() == 1 ? "data" : "compute"));
  CHECK(report.ranks.back().compute >= 0.02 * static_cast<double>(report.steps));
  if (accelerator.num_processes() > 1) {
    CHECK(report.ranks.front().communication > report.ranks.back().communication);
  }
  CHECK(report.utilisation ==
        Approx(report.samples_per_second * 1e3 / 1e9 / accelerator.num_processes()));
  CHECK((report.useful > 0 && report.useful <= 1));
  CHECK_THAT(report.to_text(), ContainsSubstring("ms a step: data"));
  CHECK(report.to_log().size() == 8);
  muster::StepTimer next(accelerator);
  next.load_state(state);
  CHECK(next.useful_share() > 0);
  next.load_state("1 2");
  CHECK(next.useful_share() < 1e-6);  // Begun in 1970.
  CHECK_THROWS_AS(next.load_state("now"), muster::CheckpointError);
}

TEST_CASE("a trace for each rank, of the steps of a schedule") {
  const Accelerator accelerator;
  const auto folder = shared_folder(accelerator, "profile");
  const auto run = [&](muster::ProfileOptions options, int steps) {
    options.folder = folder;
    muster::Profile profile(accelerator, options);
    CHECK_THROWS_AS(muster::Profile(accelerator, options), muster::ConfigError);
    for (int step = 0; step < steps; ++step) {
      (void)torch::mm(torch::ones({4, 4}), torch::ones({4, 4}));
      profile.step();
    }
    profile.finish();
    return profile.files();
  };
  const auto multiplications = [](const std::filesystem::path& path) {
    std::ifstream file(path);
    const auto trace = nlohmann::json::parse(file);
    int count = 0;
    for (const auto& event : trace.at("traceEvents")) {
      if (event.at("name") != "aten::mm") continue;
      CHECK(event.at("ph") == "X");
      CHECK((event.contains("ts") && event.contains("dur") && event.contains("pid") &&
             event.contains("tid")));
      ++count;
    }
    return count;
  };
  const auto rank = std::to_string(accelerator.process_index());
  const auto all = run({}, 3);
  REQUIRE(all.size() == 1);
  CHECK(all.front() == folder / ("profile_" + rank + ".json"));
  CHECK(multiplications(all.front()) == 3);
  const auto some = run({.wait = 1, .warmup = 1, .active = 2, .repeat = 2}, 12);
  REQUIRE(some.size() == 2);
  CHECK(some.back() == folder / ("profile_" + rank + "_2.json"));
  for (const auto& path : some) CHECK(multiplications(path) == 2);
  CHECK(run({.wait = 3, .active = 1}, 2).empty());
  CHECK_THROWS_AS(muster::Profile(accelerator, {.wait = 1}), muster::ConfigError);
  accelerator.wait_for_everyone();
  accelerator.on_main_process([&] { std::filesystem::remove_all(folder); });
}

TEST_CASE("messages of chosen ranks", "[person]") {
  const Accelerator accelerator;
  auto logger = muster::get_logger("train", accelerator);
  logger.info("of rank 0");
  logger.warning("of every rank", muster::LoggedBy::all);
  logger.info("mine is " + std::to_string(accelerator.process_index()), muster::LoggedBy::in_order);
  for (int i = 0; i < 3; ++i) logger.warning_once("once");
  logger.debug("not shown");
}
