#include <muster/data_loader.hpp>
#include <muster/error.hpp>

#include "list_dataset.hpp"

#include <ATen/Functions.h>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <array>
#include <map>

namespace other {
struct Graph {
  at::Tensor nodes;
  int moved = 0;
};
struct Weighted {
  at::Tensor data, target, weight;
};
Graph to_device(const Graph& graph, at::Device device) { return {graph.nodes.to(device), 1}; }
}  // namespace other

namespace muster::test {

// The meta device stands for one that is not the CPU.

TEST_CASE("tensors move wherever they are in a batch") {
  const at::Tensor one = at::ones({2});
  CHECK(to_device(one, at::kMeta).is_meta());
  const auto example = to_device(Example<>{one, one}, at::kMeta);
  CHECK((example.data.is_meta() && example.target.is_meta()));
  const auto nested =
      to_device(Example<std::vector<at::Tensor>, std::pair<at::Tensor, int>>{{one, one}, {one, 3}},
                at::kMeta);
  CHECK((nested.data[0].is_meta() && nested.data[1].is_meta() && nested.target.first.is_meta()));
  CHECK(nested.target.second == 3);
  const auto [tensor, word, array, maybe] = to_device(
      std::tuple(one, std::string("a"), std::array{one, one}, std::optional(one)), at::kMeta);
  CHECK((tensor.is_meta() && array[1].is_meta() && maybe->is_meta()));
  CHECK(word == "a");
  CHECK_FALSE(to_device(at::Tensor(), at::kMeta).defined());
}

TEST_CASE("a type of one's own brings its own way") {
  const other::Graph graph = to_device(other::Graph{at::ones({2})}, at::kMeta);
  CHECK((graph.nodes.is_meta() && graph.moved == 1));
  CHECK(to_device(std::vector{other::Graph{at::ones({2})}}, at::kMeta).front().moved == 1);
}

TEST_CASE("tensors in a map by string are moved") {
  const std::map<std::string, at::Tensor> batch{{"a", at::ones({2})}};
  CHECK(to_device(batch, at::kMeta).at("a").is_meta());
}

TEST_CASE("a type that nobody can move stays on the CPU or is refused by name") {
  using Unknown = std::map<int, at::Tensor>;
  CHECK(to_device(Unknown{{1, at::ones({2})}}, at::kCPU).at(1).is_cpu());
  CHECK_THROWS_WITH(
      to_device(Unknown{}, at::kMeta),
      Catch::Matchers::ContainsSubstring("std::map") && Catch::Matchers::ContainsSubstring("meta"));
}

TEST_CASE("a struct with more than data and target is not moved in part") {
  const at::Tensor one = at::ones({2});
  CHECK(to_device(other::Weighted{one, one, one}, at::kCPU).weight.is_cpu());
  CHECK_THROWS_WITH(to_device(other::Weighted{one, one, one}, at::kMeta),
                    Catch::Matchers::ContainsSubstring("other::Weighted"));
}

TEST_CASE("a prepared loader puts its batches on the device") {
  auto loader = DataLoader(IdDataset{4}, {.batch_size = 2}).sharded(0, 1, nullptr, at::kMeta, 42);
  for (auto& batch : loader) CHECK(batch.is_meta());
}

}  // namespace muster::test
