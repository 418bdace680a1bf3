#include "strategies/model_check.hpp"

#include <muster/error.hpp>

#include "backends/strategies/support/meshes.hpp"
#include "backends/strategies/support/toy.hpp"

#include <catch2/catch_test_macros.hpp>

using namespace muster;
using namespace muster::test;

namespace {

/// The error of three ranks, of which the last has this other model.
std::string difference(const std::vector<NamedTensor>& usual,
                       const std::vector<NamedTensor>& other) {
  const auto errors = errors_on_ranks<ModelError>(3, [&](const MeshPtr& mesh) {
    auto strategy = make_data_parallel(mesh, {});
    auto parts = mesh->world().rank() == 2 ? other : usual;
    // Each rank its own tensors.
    for (auto& [name, tensor] : parts) {
      const bool trained = tensor.requires_grad();
      tensor = tensor.detach().clone(at::MemoryFormat::Preserve);
      if (trained) tensor.requires_grad_();
    }
    strategy->prepare({parts, {}});
  });
  CHECK(errors[1] == errors[0]);
  CHECK(errors[2] == errors[0]);
  return errors[0];
}

bool has(const std::string& text, const std::string& part) {
  INFO(text);
  CHECK(text.find(part) != std::string::npos);
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("models that differ are refused on all ranks, with the first difference",
          "[strategies]") {
  const NamedTensor a{"a.weight", leaf({3, 2}, 1)};
  const NamedTensor b{"b.weight", leaf({4}, 2)};

  SECTION("shape") {
    CHECK(has(difference({a, b}, {a, {"b.weight", leaf({5}, 2)}}),
              "rank 0 has parameter 'b.weight' [4] float32, trained where rank 2 has parameter "
              "'b.weight' [5] float32, trained"));
  }
  SECTION("count") {
    const auto text = difference({a, b}, {a});
    CHECK(has(text, "where rank 2 has nothing (rank 0: 2 parameters, rank 2: 1 parameters)"));
  }
  SECTION("dtype") {
    CHECK(has(difference({a, b},
                         {a, {"b.weight", leaf({4}, 2).detach().to(at::kDouble).requires_grad_()}}),
              "[4] float64, trained"));
  }
  SECTION("requires_grad") {
    CHECK(has(difference({a, b}, {{"a.weight", normal({3, 2}, 1)}, b}), "[3, 2] float32, frozen"));
  }
  SECTION("name and order") {
    CHECK(has(difference({a, b}, {b, a}), "rank 0 has parameter 'a.weight'"));
  }
  SECTION("memory order") {
    const auto turned = normal({2, 3}, 1).t().detach().requires_grad_();
    CHECK(has(difference({a, b}, {{"a.weight", turned}, b}), "with strides [1, 3]"));
  }
}

TEST_CASE("buckets that differ are refused too", "[strategies]") {
  const auto errors = errors_on_ranks<ModelError>(2, [&](const MeshPtr& mesh) {
    Toy toy;
    make_data_parallel(mesh, buckets(mesh->world().rank() + 7))->prepare(toy.parts());
  });
  CHECK(has(errors[0], "buckets of 7 and then 7 bytes where rank 1 has buckets of 8"));
}

TEST_CASE("equal models cost one operation", "[strategies]") {
  const auto all = on_ranks(2, [](const MeshPtr& mesh) {
    Toy toy;
    const auto before = mesh->world().operations();
    require_same_model(toy.parts().parameters, toy.parts().buffers(), {}, mesh->world());
    return mesh->world().operations() - before;
  });
  CHECK((all == std::vector<std::uint64_t>{1, 1}));
}
