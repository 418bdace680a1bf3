#include "strategies/flat_model.hpp"

#include <muster/error.hpp>

#include "backends/strategies/support/toy.hpp"
#include "strategies/window.hpp"

#include <c10/core/GradMode.h>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using namespace muster;
using namespace muster::test;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

namespace {

FlatModel prepared(std::vector<NamedTensor> parameters) {
  FlatModel model(std::move(parameters), at::kCPU, {});
  model.move_in();
  return model;
}

}  // namespace

TEST_CASE("parameters become windows over flat memory: same values, own storage, no view") {
  Toy toy;
  const auto before = copies(toy.parameters());
  const auto handle = toy.first;
  const auto model = prepared(toy.parts().parameters);
  CHECK(all_equal(copies(toy.parameters()), before));
  CHECK(storage_of(handle) == storage_of(toy.first));
  for (std::size_t slot = 0; slot < model.slots().size(); ++slot) {
    const auto& parameter = model.parameter_of(slot);
    CHECK_FALSE(parameter.is_view());
    CHECK(parameter.is_leaf());
    CHECK(parameter.requires_grad());
    CHECK(parameter.storage_offset() == 0);
    CHECK(parameter.storage().nbytes() == parameter.nbytes());
  }
  // Writing to the flat memory writes to the parameter.
  const auto slot = *model.find_slot(toy.scale);
  const auto& place = model.slots()[slot];
  model.flat(place.bucket)[place.offset] = 42;
  CHECK(toy.scale.item<double>() == 42);
}

TEST_CASE("slots start on 64 bytes and padding is zero") {
  Toy toy;
  const auto model = prepared(toy.parts().parameters);
  for (const auto& slot : model.slots()) {
    const auto& flat = model.flat(slot.bucket);
    const auto address = reinterpret_cast<std::uintptr_t>(flat.const_data_ptr()) +
                         static_cast<std::uintptr_t>(slot.offset * flat.element_size());
    CHECK(address % 64 == 0);
    const auto padding = flat.narrow(0, slot.offset + slot.numel, slot.padded - slot.numel);
    CHECK(padding.eq(0).all().item<bool>());
  }
}

TEST_CASE("a dense parameter keeps the memory order it has") {
  auto weight = normal({4, 3, 2, 2}, 1).contiguous(at::MemoryFormat::ChannelsLast).requires_grad_();
  const auto values = weight.detach().clone();
  const auto strides = weight.strides().vec();
  prepared({{"conv.weight", weight}});
  CHECK(weight.strides().vec() == strides);
  CHECK(all_equal({weight.detach()}, {values}));
}

TEST_CASE("tied parameters count once, frozen ones are kept apart") {
  const auto tied = leaf({3}, 1);
  const auto frozen = normal({3}, 2);
  const auto storage = storage_of(frozen);
  const auto model = prepared({{"a", tied}, {"frozen", frozen}, {"b", tied}});
  CHECK(model.parameters().size() == 2);
  CHECK(model.slots().size() == 1);
  CHECK_FALSE(model.find_slot(frozen));
  CHECK(storage_of(frozen) == storage);
}

TEST_CASE("what cannot be trained flat is refused by name") {
  const auto base = leaf({6}, 1);
  auto first = at::Tensor(base.detach().narrow(0, 0, 4)).requires_grad_();
  auto second = at::Tensor(base.detach().narrow(0, 3, 3)).requires_grad_();
  auto third = at::Tensor(base.detach().narrow(0, 4, 2)).requires_grad_();
  CHECK_THROWS_MATCHES(prepared({{"x", first}, {"y", second}}), ModelError,
                       MessageMatches(ContainsSubstring("'x' and 'y' are two tensors")));
  CHECK_NOTHROW(prepared({{"x", first}, {"z", third}}));
  const auto complex = normal({2}, 1).to(at::kComplexFloat).requires_grad_();
  CHECK_THROWS_MATCHES(prepared({{"c", complex}}), ModelError,
                       MessageMatches(ContainsSubstring("'c' is complex")));
  CHECK_THROWS_MATCHES(prepared({{"r", base * 2}}), ModelError,
                       MessageMatches(ContainsSubstring("'r' is the result")));
}

TEST_CASE("a parameter that changed after prepare is named") {
  Toy toy;
  auto frozen = normal({2}, 9);
  auto parameters = toy.parts().parameters;
  parameters.push_back({"frozen", frozen});
  const auto model = prepared(parameters);
  CHECK_NOTHROW(model.require_unchanged());

  SECTION("converted") {
    toy.first.set_data(toy.first.detach().to(at::kDouble));
    CHECK_THROWS_MATCHES(
        model.require_unchanged(), ModelError,
        MessageMatches(ContainsSubstring("'first.weight' changed after prepare: its dtype was "
                                         "Float and is Double")));
  }
  SECTION("other memory") {
    toy.second.set_data(toy.second.detach().clone());
    CHECK_THROWS_MATCHES(
        model.require_unchanged(), ModelError,
        MessageMatches(ContainsSubstring("'second.weight' changed after prepare: it has other")));
  }
  SECTION("frozen") {
    toy.scale.set_requires_grad(false);
    CHECK_THROWS_MATCHES(model.require_unchanged(), ModelError,
                         MessageMatches(ContainsSubstring("it was frozen")));
  }
  SECTION("unfrozen") {
    frozen.set_requires_grad(true);
    CHECK_THROWS_MATCHES(model.require_unchanged(), ModelError,
                         MessageMatches(ContainsSubstring("it was unfrozen")));
  }
}
