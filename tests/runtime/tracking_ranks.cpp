// Run by `muster launch -n N`: every rank runs every case, in the same order.

#include <muster/accelerator.hpp>
#include <muster/data_loader.hpp>
#include <muster/error.hpp>

#include "checkpoint/temporary_folder.hpp"
#include "nets.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <nlohmann/json.hpp>
#include <torch/torch.h>

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using muster::Accelerator;
using muster::test::Mlp;
using muster::test::TemporaryFolder;

namespace {

muster::AcceleratorOptions tracked(const TemporaryFolder& folder, const std::string& log_with) {
  muster::AcceleratorOptions options;
  options.log_with = log_with;
  options.project_dir = folder.path().string();
  return options;
}

std::vector<nlohmann::json> logged(const TemporaryFolder& folder) {
  std::vector<nlohmann::json> lines;
  std::ifstream file(folder / "digits/metrics.jsonl");
  for (std::string line; std::getline(file, line);) lines.push_back(nlohmann::json::parse(line));
  return lines;
}

class Counter : public muster::Tracker {
 public:
  std::string_view name() const override { return "counter"; }
  void start(const muster::TrackedRun& /*run*/) override {}
  void log(const muster::TrackedRecord& /*record*/) override { ++count; }
  void finish() override { throw std::runtime_error("no network"); }
  int count = 0;
};

}  // namespace

TEST_CASE("all ranks log and one writes, values of every kind as they were") {
  const TemporaryFolder folder;
  Accelerator accelerator(tracked(folder, "jsonl,csv,html,tensorboard"));
  accelerator.init_trackers("digits", {{"lr", 0.5}, {"layers", 2}});
  auto loss = torch::full({}, 0.25, torch::requires_grad());
  auto sum = torch::ones({1}, torch::kBFloat16);
  accelerator.log({{"loss", loss}, {"sum", sum}, {"epoch", 3}, {"note", "first"}}, 7);
  sum += 1;
  accelerator.log({{"right", torch::tensor(12)}, {"nan", torch::tensor(NAN)}}, 8);
  accelerator.end_training();
  if (!accelerator.is_main_process()) {
    CHECK(folder.files() == 0);
    return;
  }
  CHECK(folder.files() == 1);
  const auto lines = logged(folder);
  REQUIRE(lines.size() == 2);
  CHECK(lines[0]["step"] == 7);
  CHECK(lines[0]["loss"] == 0.25);
  CHECK(lines[0]["sum"] == 1);
  CHECK(lines[0]["epoch"] == 3);
  CHECK(lines[0]["note"] == "first");
  CHECK(lines[0]["system/memory_mib"] > 1);
  CHECK(lines[1]["right"] == 12);
  CHECK(lines[1]["nan"] == "NaN");
  CHECK(lines[1].contains("system/steps_per_second"));
}

TEST_CASE("steps and the learning rate are the optimizer's, unless the program says") {
  const TemporaryFolder folder;
  Accelerator accelerator(tracked(folder, "jsonl"));
  accelerator.init_trackers("digits");
  accelerator.log({{"before", 1}});
  accelerator.log({{"before", 2}});
  auto module = std::make_shared<Mlp>();
  torch::optim::SGD sgd(module->parameters(), 0.5);
  auto [model, optimizer] = accelerator.prepare(module, sgd);
  for (int step = 1; step <= 3; ++step) {
    accelerator.backward(model(torch::ones({2, 8})).mean());
    optimizer.step();
    optimizer.zero_grad();
    for (auto& group : sgd.param_groups()) group.options().set_lr(0.5 / (step + 1));
    accelerator.log({{"loss", 1.0F}});
    accelerator.log({{"evaluation", 1}});
  }
  accelerator.log({{"learning_rate", 9}}, 10);
  accelerator.end_training();
  if (!accelerator.is_main_process()) return;
  const auto lines = logged(folder);
  REQUIRE(lines.size() == 9);
  CHECK(lines[0]["step"] == 0);
  CHECK(lines[1]["step"] == 1);
  CHECK(lines[4]["step"] == 2);
  CHECK(lines[4]["learning_rate"] == 0.5 / 3);
  CHECK(lines[5]["step"] == 2);
  CHECK_FALSE(lines[5].contains("learning_rate"));
  CHECK(lines[8]["learning_rate"] == 9);
}

TEST_CASE("without trackers nothing happens, and the program's faults are seen on all ranks") {
  const TemporaryFolder folder;
  Accelerator accelerator(tracked(folder, "none"));
  accelerator.log({{"loss", 1}});
  CHECK_THROWS_AS(accelerator.get_tracker("csv"), muster::ConfigError);
  accelerator.init_trackers("digits");
  accelerator.log({{"loss", torch::tensor(1.0)}});
  CHECK(folder.files() == 0);
  CHECK_THROWS_MATCHES(
      accelerator.log({{"losses", torch::ones({3})}}), muster::ConfigError,
      MessageMatches(ContainsSubstring("'losses' is [3] float32; trackers take one real number")));
  CHECK_THROWS_AS(accelerator.log({{"none", torch::Tensor()}}), muster::ConfigError);
  CHECK_THROWS_AS(accelerator.log({{"c", torch::ones({}, torch::kComplexFloat)}}),
                  muster::ConfigError);
  accelerator.end_training();
}

TEST_CASE("a tracker of the program's own, and where it does not run") {
  const TemporaryFolder folder;
  const auto counter = std::make_shared<Counter>();
  Accelerator accelerator(tracked(folder, "csv"));
  accelerator.init_trackers("digits", {}, {.trackers = {counter}});
  for (int step = 0; step < 5; ++step) accelerator.log({{"loss", step}}, step);
  const bool main = accelerator.is_main_process();
  CHECK(counter->count == (main ? 5 : 0));
  CHECK((&accelerator.get_tracker("counter") == counter.get()) == main);
  accelerator.get_tracker("csv").log({});  // On other ranks nothing.
  accelerator.end_training();              // Says on rank 0 that finish threw.
}

TEST_CASE("trouble at the end is thrown where that was asked for, after all ranks have met") {
  const TemporaryFolder folder;
  Accelerator accelerator(tracked(folder, "none"));
  accelerator.init_trackers(
      "digits", {},
      {.trackers = {std::make_shared<Counter>()}, .trouble = muster::TrackerTrouble::always});
  if (accelerator.is_main_process()) {
    CHECK_THROWS_AS(accelerator.end_training(), muster::TrackerError);
  } else {
    accelerator.end_training();
  }
  CHECK_THROWS_AS(accelerator.wait_for_everyone(), muster::CommunicationError);
}

TEST_CASE("a name that no tracker has is refused on all ranks") {
  const TemporaryFolder folder;
  CHECK_THROWS_MATCHES(Accelerator(tracked(folder, "csv,wandb")), muster::ConfigError,
                       MessageMatches(ContainsSubstring("wandb") && ContainsSubstring("jsonl")));
}
