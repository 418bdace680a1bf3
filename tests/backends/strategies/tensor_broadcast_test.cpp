#include <muster/tensor_broadcast.hpp>

#include "backends/strategies/support/meshes.hpp"
#include "backends/strategies/support/toy.hpp"

#include <ATen/ops/empty.h>
#include <catch2/catch_test_macros.hpp>

#include <stdexcept>

using namespace muster;
using namespace muster::test;

TEST_CASE("tensors of any dtype get rank 0's values in one operation, without a new version",
          "[strategies]") {
  struct Result {
    std::vector<at::Tensor> tensors;
    std::uint64_t operations;
    bool same_version;
  };
  const auto all = on_ranks(3, [](const MeshPtr& mesh) {
    const auto rank = static_cast<std::uint64_t>(mesh->world().rank());
    Result result;
    result.tensors = {normal({3}, rank),       normal({}, rank + 10).to(at::kLong),
                      normal({0}, 1),          normal({2, 5}, rank).t(),
                      normal({7}, rank).gt(0), normal({3}, rank).to(at::kBFloat16)};
    std::vector<NamedTensor> named;
    std::vector<std::int64_t> versions;
    for (const auto& tensor : result.tensors) {
      named.push_back({"t", tensor});
      versions.push_back(tensor._version());
    }
    const auto before = mesh->world().operations();
    broadcast_tensors(named, mesh->world(), "buffers");
    result.operations = mesh->world().operations() - before;
    result.same_version = true;
    for (std::size_t index = 0; index < versions.size(); ++index) {
      result.same_version =
          result.same_version && result.tensors[index]._version() == versions[index];
    }
    return result;
  });
  for (const auto& rank : all) {
    CHECK(all_equal(rank.tensors, all[0].tensors));
    CHECK(rank.operations == 1);
    CHECK(rank.same_version);
  }
  CHECK(all_equal({all[1].tensors[0]}, {normal({3}, 0)}));
}

TEST_CASE("many bytes go in several operations, each tensor whole", "[strategies]") {
  const auto all = on_ranks(2, [](const MeshPtr& mesh) {
    std::vector<NamedTensor> named;
    // 40 MiB, 30 MiB and 3 bytes, then one of 70 MiB.
    for (const std::int64_t numel : {40 << 20, 30 << 20, 3, 70 << 20}) {
      named.push_back({"t", at::empty({numel}, at::kByte).fill_(mesh->world().rank() + 1)});
    }
    const auto before = mesh->world().operations();
    broadcast_tensors(named, mesh->world(), "weights");
    for (const auto& [name, tensor] : named) {
      if (!tensor.eq(1).all().item<bool>()) throw std::runtime_error("not rank 0's");
    }
    return mesh->world().operations() - before;
  });
  CHECK(all == std::vector<std::uint64_t>{3, 3});
}
