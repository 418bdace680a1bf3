// One process. What ranks do together is in schedulers_ranks.cpp.

#include <muster/accelerator.hpp>
#include <muster/error.hpp>
#include <muster/schedules.hpp>

#include "nets.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <torch/optim/schedulers/reduce_on_plateau_scheduler.h>
#include <torch/optim/schedulers/step_lr.h>
#include <torch/torch.h>

#include <memory>

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using muster::Accelerator;
using muster::Scheduler;
using muster::test::Mlp;
using Rates = std::vector<double>;

namespace {

std::vector<torch::Tensor> one_parameter() { return {torch::zeros({2}, torch::requires_grad())}; }

torch::Tensor loss_of(const torch::Tensor& output) { return output.square().mean(); }

/// Two groups with rates of their own.
torch::optim::SGD two_groups(Mlp& module) {
  std::vector<torch::optim::OptimizerParamGroup> groups;
  groups.emplace_back(module.hidden->parameters(), std::make_unique<torch::optim::SGDOptions>(0.4));
  groups.emplace_back(module.output->parameters(), std::make_unique<torch::optim::SGDOptions>(0.8));
  return torch::optim::SGD(groups, torch::optim::SGDOptions(1.0));
}

/// A program's own: what it adds to the rates is more than steps can tell.
class Growing : public torch::optim::LRScheduler {
 public:
  explicit Growing(torch::optim::Optimizer& optimizer) : LRScheduler(optimizer) {}
  muster::SchedulerState state_dict() const { return {{"growth", {growth_}}}; }
  void load_state_dict(const muster::SchedulerState& state) {
    growth_ = state.at("growth").front();
  }

 private:
  std::vector<double> get_lrs() override {
    auto rates = get_current_lrs();
    growth_ *= 2;
    for (auto& rate : rates) rate += growth_;
    return rates;
  }
  double growth_ = 1;
};

}  // namespace

TEST_CASE("a scheduler sets the rates of all groups, each from its own") {
  Mlp module;
  auto sgd = two_groups(module);
  Scheduler scheduler(sgd, muster::WarmupLR{.num_warmup_steps = 4});
  CHECK(scheduler.get_last_lr() == Rates{0, 0});
  scheduler.step();
  CHECK(scheduler.get_last_lr() == Rates{0.1, 0.2});
  for (int i = 0; i < 9; ++i) scheduler.step();
  CHECK(sgd.param_groups()[1].options().get_lr() == 0.8);
  CHECK(scheduler.steps() == 10);
  Scheduler each(sgd, muster::LambdaLR{{[](auto) { return 0.5; }, [](auto) { return 0.25; }}});
  CHECK(each.get_last_lr() == Rates{0.2, 0.2});
  CHECK_THROWS_MATCHES(Scheduler(sgd, muster::OneCycleLR{.max_lr = {1, 2, 3}, .total_steps = 5}),
                       muster::ConfigError, MessageMatches(ContainsSubstring("2 groups")));
}

TEST_CASE("one cycle moves momentum, or beta1, and is refused where there is none") {
  const muster::OneCycleLR cycle{.total_steps = 10};
  torch::optim::SGD sgd(one_parameter(), torch::optim::SGDOptions(0.1).momentum(0.5));
  torch::optim::RMSprop rmsprop(one_parameter());
  torch::optim::Adam adam(one_parameter());
  torch::optim::AdamW adamw(one_parameter());
  const auto momenta = [&] {
    return Rates{
        static_cast<torch::optim::SGDOptions&>(sgd.param_groups()[0].options()).momentum(),
        static_cast<torch::optim::RMSpropOptions&>(rmsprop.param_groups()[0].options()).momentum(),
        std::get<0>(
            static_cast<torch::optim::AdamOptions&>(adam.param_groups()[0].options()).betas()),
        std::get<0>(
            static_cast<torch::optim::AdamWOptions&>(adamw.param_groups()[0].options()).betas())};
  };
  std::vector<Scheduler> schedulers{{sgd, cycle}, {rmsprop, cycle}, {adam, cycle}, {adamw, cycle}};
  CHECK(momenta() == Rates(4, 0.95));
  for (auto& scheduler : schedulers) scheduler.step(), scheduler.step();
  CHECK(momenta() == Rates(4, 0.85));
  // A schedule that leaves momentum alone does not undo what the program sets.
  Scheduler plain(sgd, muster::ExponentialLR{.gamma = 0.5});
  static_cast<torch::optim::SGDOptions&>(sgd.param_groups()[0].options()).momentum(0.7);
  plain.step();
  CHECK(momenta()[0] == 0.7);
  torch::optim::Adagrad adagrad(one_parameter());
  CHECK_THROWS_MATCHES(Scheduler(adagrad, cycle), muster::ConfigError,
                       MessageMatches(ContainsSubstring("cycle_momentum")));
}

TEST_CASE("after prepare it follows the optimizer's updates, wherever step stands in the loop") {
  const bool before = GENERATE(false, true);
  Accelerator accelerator({.gradient_accumulation_steps = 3});
  auto module = std::make_shared<Mlp>();
  torch::optim::SGD sgd(module->parameters(), 1.0);
  Scheduler given(sgd, muster::StepLR{.step_size = 1, .gamma = 0.5});
  auto [scheduler, optimizer, model] = accelerator.prepare(given, sgd, module);
  CHECK(scheduler == given);
  double lr = 1;
  for (int micro = 1; micro <= 12; ++micro) {
    const auto scope = accelerator.accumulate(model);
    if (before) scheduler.step();
    accelerator.backward(loss_of(model(torch::ones({1, 8}))));
    optimizer.step();
    if (!before) {
      scheduler.step();
      scheduler.step();  // nothing more to follow
      if (micro % 3 == 0) lr /= 2;
      CHECK(scheduler.get_last_lr() == Rates{lr});
    }
    optimizer.zero_grad();
  }
  CHECK(scheduler.steps() == (before ? 3 : 4));
}

TEST_CASE("a schedule alone belongs to the only optimizer of the call") {
  Accelerator accelerator;
  auto module = std::make_shared<Mlp>();
  auto other = std::make_shared<Mlp>();
  auto [schedule, model, optimizer] = accelerator.prepare(
      muster::CosineLR{.total_iters = 10}, module, torch::optim::SGD(module->parameters(), 0.5));
  CHECK(schedule.get_last_lr() == Rates{0.5});
  auto later =
      accelerator.prepare([](std::int64_t step) { return 1.0 + static_cast<double>(step); });
  CHECK(later.get_last_lr() == Rates{0.5});
  auto [second, other_model, other_optimizer] =
      accelerator.prepare(muster::Schedule(), other, torch::optim::SGD(other->parameters(), 0.25));
  CHECK(second.get_last_lr() == Rates{0.25});
  CHECK_THROWS_MATCHES(accelerator.prepare(muster::Schedule()), muster::ModelError,
                       MessageMatches(ContainsSubstring("2 optimizers")));
}

TEST_CASE("a scheduler whose optimizer is not prepared is refused") {
  Accelerator accelerator;
  auto module = std::make_shared<Mlp>();
  torch::optim::SGD sgd(module->parameters(), 0.5);
  CHECK_THROWS_MATCHES(accelerator.prepare(module, Scheduler(sgd, muster::Schedule())),
                       muster::ModelError, MessageMatches(ContainsSubstring("not prepared")));
  Scheduler scheduler(sgd, muster::ExponentialLR{.gamma = 0.5});
  torch::optim::StepLR steps(sgd, 1);
  CHECK_THROWS_MATCHES(accelerator.prepare(module, std::move(sgd), scheduler), muster::ModelError,
                       MessageMatches(ContainsSubstring("another object")));
  CHECK_THROWS_AS(accelerator.prepare(steps), muster::ModelError);
  CHECK_THROWS_MATCHES(scheduler.step(), muster::ModelError,
                       MessageMatches(ContainsSubstring("moved from")));
}

TEST_CASE("two schedulers do not set one optimizer's rates") {
  Accelerator accelerator;
  auto module = std::make_shared<Mlp>();
  auto [model, optimizer] =
      accelerator.prepare(module, torch::optim::SGD(module->parameters(), 1.0));
  const auto update = [&, &model = model, &optimizer = optimizer] {
    accelerator.backward(loss_of(model(torch::ones({1, 8}))));
    optimizer.step();
    optimizer.zero_grad();
  };
  int calls = 0;
  Scheduler callback(optimizer, [&](std::int64_t /*step*/) { ++calls; });
  {
    Scheduler first(optimizer, muster::ExponentialLR{.gamma = 0.5});
    Scheduler second(optimizer, muster::StepLR{.step_size = 1});
    update();
    first.step();
    callback.step();
    CHECK_THROWS_MATCHES(second.step(), muster::ModelError,
                         MessageMatches(ContainsSubstring("ChainedLR")));
  }
  CHECK(calls == 2);
  Scheduler next(optimizer, muster::StepLR{.step_size = 1});  // the first is gone
  update();
  CHECK_NOTHROW(next.step());
}

TEST_CASE("schedulers of LibTorch and of the program are taken, borrowed or owned") {
  Accelerator accelerator({.gradient_accumulation_steps = 2});
  auto module = std::make_shared<Mlp>();
  auto other = std::make_shared<Mlp>();
  torch::optim::SGD sgd(module->parameters(), 1.0), idle(other->parameters(), 1.0);
  torch::optim::StepLR mine(sgd, 1, 0.5);
  auto [steps, growing, optimizer, model, other_optimizer, other_model] =
      accelerator.prepare(mine, std::make_unique<Growing>(idle), sgd, module, idle, other);
  CHECK(accelerator.prepare(mine) == steps);
  for (int micro = 0; micro < 6; ++micro) {
    const auto scope = accelerator.accumulate(model);
    accelerator.backward(loss_of(model(torch::ones({1, 8}))));
    optimizer.step();
    steps.step();
    growing.step();
  }
  torch::optim::SGD reference(one_parameter(), 1.0);
  torch::optim::StepLR by_hand(reference, 1, 0.5);
  for (int i = 0; i < 3; ++i) by_hand.step();
  CHECK(steps.get_last_lr() == Rates{reference.param_groups()[0].options().get_lr()});
  CHECK(growing.get_last_lr() == Rates{1});  // its optimizer has made no update
  CHECK_THROWS_MATCHES(Scheduler(idle, mine), muster::ConfigError,
                       MessageMatches(ContainsSubstring("another optimizer")));
}

TEST_CASE("a plateau takes metrics, LibTorch's too") {
  torch::optim::SGD sgd(one_parameter(), 1.0), other(one_parameter(), 1.0);
  Scheduler ours(sgd, muster::ReduceLROnPlateau{.factor = 0.5, .patience = 1});
  using Theirs = torch::optim::ReduceLROnPlateauScheduler;
  Scheduler theirs(other, Theirs(other, Theirs::min, 0.5, 1));
  for (const double metric : {3.0, 2.0, 2.0, 2.0, 2.0, 2.0, 1.0}) {
    ours.step(metric);
    theirs.step(metric);
    CHECK(ours.get_last_lr() == theirs.get_last_lr());
  }
  CHECK(ours.get_last_lr() == Rates{0.25});
  CHECK_THROWS_MATCHES(ours.step(), muster::ConfigError,
                       MessageMatches(ContainsSubstring("metric")));
  CHECK_THROWS_MATCHES(Scheduler(sgd, muster::Schedule()).step(1.0), muster::ConfigError,
                       MessageMatches(ContainsSubstring("metric")));
  CHECK_THROWS_MATCHES(theirs.state_dict(), muster::UnsupportedError,
                       MessageMatches(ContainsSubstring("muster::ReduceLROnPlateau")));
}

TEST_CASE("a state goes on exactly, in an optimizer that was made with other rates") {
  const auto continued = [](auto make) {
    torch::optim::SGD sgd(one_parameter(), torch::optim::SGDOptions(0.4).momentum(0.9));
    torch::optim::SGD fresh(one_parameter(), torch::optim::SGDOptions(7.0).momentum(0.9));
    Scheduler first(sgd, make(sgd));
    for (int i = 0; i < 7; ++i) first.step();
    Scheduler second(fresh, make(fresh));
    second.load_state_dict(first.state_dict());
    CHECK(second.get_last_lr() == first.get_last_lr());
    for (int i = 0; i < 9; ++i) {
      first.step();
      second.step();
      CHECK(second.get_last_lr() == first.get_last_lr());
    }
    CHECK(second.state_dict() == first.state_dict());
    CHECK(second.steps() == 16);
  };
  continued([](auto&) {
    return muster::WarmupLR{.num_warmup_steps = 5, .then = muster::CosineLR{.total_iters = 9}};
  });
  continued([](auto&) { return muster::OneCycleLR{.total_steps = 12}; });
  continued([](auto& optimizer) { return torch::optim::StepLR(optimizer, 3, 0.5); });
  continued([](auto& optimizer) { return std::make_shared<Growing>(optimizer); });
}

TEST_CASE("the state of another schedule is refused and changes nothing") {
  torch::optim::SGD sgd(one_parameter(), 1.0);
  Scheduler scheduler(sgd, muster::ReduceLROnPlateau{});
  const auto before = scheduler.state_dict();
  auto state = before;
  state.erase("plateau");
  CHECK_THROWS_AS(scheduler.load_state_dict(state), muster::CheckpointError);
  CHECK_THROWS_AS(scheduler.load_state_dict({}), muster::CheckpointError);
  state = before;
  state["base_lr"] = {1, 2};
  CHECK_THROWS_MATCHES(scheduler.load_state_dict(state), muster::CheckpointError,
                       MessageMatches(ContainsSubstring("2 values of 'base_lr'")));
  CHECK(scheduler.state_dict() == before);
}
