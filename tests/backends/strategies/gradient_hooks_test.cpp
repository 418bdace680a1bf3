#include "strategies/gradient_hooks.hpp"

#include "backends/strategies/support/toy.hpp"

#include <catch2/catch_test_macros.hpp>
#include <torch/csrc/autograd/function_hook.h>
#include <torch/csrc/autograd/variable.h>

#include <string>

using namespace muster;
using namespace muster::test;

namespace {

struct Recorder : GradientListener {
  std::string seen;
  void before_accumulation(std::size_t index) override { seen += "<" + std::to_string(index); }
  void after_accumulation(std::size_t index) override { seen += std::to_string(index) + ">"; }
};

struct UsersHook : torch::autograd::PostAccumulateGradHook {
  explicit UsersHook(std::string& text) : seen(text) {}
  void operator()(const at::Tensor&) override { seen += "u"; }
  std::string& seen;
};

void set_users_hook(const at::Tensor& tensor, std::string& text) {
  torch::autograd::impl::set_post_acc_grad_hooks(tensor, std::make_unique<UsersHook>(text));
}

}  // namespace

TEST_CASE("hooks come before and after each accumulation, in the order of gradients") {
  Recorder recorder;
  const auto a = leaf({2}, 1);
  const auto b = leaf({2}, 2);
  const GradientHooks hooks({a, b}, recorder);
  (a * 2).mul(b).sum().backward();
  CHECK((recorder.seen == "<11><00>" || recorder.seen == "<00><11>"));
}

TEST_CASE("a user's hook runs before ours, whichever was first, and stays when ours goes") {
  Recorder recorder;
  const auto a = leaf({2}, 1);
  const auto b = leaf({2}, 2);
  set_users_hook(a, recorder.seen);
  {
    GradientHooks hooks({a, b}, recorder);
    a.sum().backward();
    CHECK(recorder.seen == "<0u0>");
    recorder.seen.clear();
    set_users_hook(b, recorder.seen);
    hooks.refresh();
    hooks.refresh();
    b.sum().backward();
    CHECK(recorder.seen == "<1u1>");
  }
  recorder.seen.clear();
  a.sum().backward();
  b.sum().backward();
  CHECK(recorder.seen == "uu");
}

TEST_CASE("a user's gradient hook beside ours changes the gradient once") {
  Recorder recorder;
  const auto a = leaf({2}, 1);
  const GradientHooks hooks({a}, recorder);
  a.register_hook([](const at::Tensor& gradient) { return gradient * 3; });
  a.sum().backward();
  CHECK(recorder.seen == "<00>");
  CHECK(a.grad().eq(3).all().item<bool>());
}

TEST_CASE("two sets of hooks on one parameter leave in any order") {
  Recorder first;
  Recorder second;
  const auto a = leaf({2}, 1);
  auto inner = std::make_unique<GradientHooks>(std::vector<at::Tensor>{a}, first);
  auto outer = std::make_unique<GradientHooks>(std::vector<at::Tensor>{a}, second);
  inner.reset();
  a.sum().backward();
  CHECK(first.seen.empty());
  CHECK(second.seen == "<00>");
  outer.reset();
  a.sum().backward();
  CHECK(second.seen == "<00>");
}

TEST_CASE("hooks survive freezing, unfreezing and set_data") {
  Recorder recorder;
  const auto a = leaf({2}, 1);
  const GradientHooks hooks({a}, recorder);
  a.set_requires_grad(false);
  a.set_requires_grad(true);
  a.set_data(normal({2}, 3));
  a.sum().backward();
  CHECK(recorder.seen == "<00>");
}
