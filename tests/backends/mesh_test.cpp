#include <muster/error.hpp>
#include <muster/fake.hpp>
#include <muster/mesh.hpp>

#include "backends/catch.hpp"
#include "backends/ranks.hpp"
#include "backends/values.hpp"

#include <ATen/ops/zeros.h>

#include <string>
#include <vector>

namespace muster {
namespace {

std::shared_ptr<Communicator> fake(int rank, int size) { return make_fake(rank, size); }

TEST_CASE("a data parallel mesh is the world") {
  const auto world = fake(2, 6);
  const auto mesh = Mesh::data_parallel(world);
  CHECK(mesh.group("data") == world);
  CHECK(mesh.size("data") == 6);
  CHECK(mesh.coordinate("data") == 2);
}

TEST_CASE("the last dimension runs over neighbouring ranks") {
  for (int rank = 0; rank < 24; ++rank) {
    const Mesh mesh(fake(rank, 24), {{"pipe", 2}, {"data", 3}, {"tensor", 4}});
    CHECK(mesh.coordinate("tensor") == rank % 4);
    CHECK(mesh.coordinate("data") == rank / 4 % 3);
    CHECK(mesh.coordinate("pipe") == rank / 12);
    CHECK(mesh.group("data")->size() == 3);
  }
  const Mesh flat(fake(1, 4), {{"data", 4}, {"pipe", 1}});
  CHECK(flat.group("pipe")->size() == 1);
  CHECK(flat.group("data")->size() == 4);
}

TEST_CASE("meshes that do not fit the world are refused with their sizes") {
  CHECK_THROWS_AS(Mesh(fake(0, 6), {{"data", 4}}), ConfigError);
  CHECK_THROWS_AS(Mesh(fake(0, 4), {{"data", 2}, {"data", 2}}), ConfigError);
  CHECK_THROWS_AS(Mesh(fake(0, 4), {{"data", 4}, {"pipe", 0}}), ConfigError);
  try {
    static_cast<void>(Mesh(fake(0, 6), {{"data", 6}}).group("pipe"));
    FAIL("found a dimension that is not there");
  } catch (const ConfigError& error) {
    CHECK(std::string(error.what()) == "the mesh has no dimension 'pipe'; it has: data of 6");
  }
}

TEST_CASE("groups of a mesh talk to the ranks that differ in that dimension only") {
  REQUIRE_NOTHROW(test::with_group("gloo", 4, [](Communicator& group) {
    // The mesh shares its world; here the test owns it and outlives the mesh.
    const std::shared_ptr<Communicator> world(&group, [](Communicator*) {});
    const Mesh mesh(world, {{"pipe", 2}, {"data", 2}});
    auto rows = at::zeros({2}, at::kLong);
    mesh.group("data")
        ->all_gather(rows, at::zeros({1}, at::kLong).fill_(group.rank()), "row")
        .wait();
    auto columns = at::zeros({2}, at::kLong);
    mesh.group("pipe")
        ->all_gather(columns, at::zeros({1}, at::kLong).fill_(group.rank()), "column")
        .wait();
    const auto first = group.rank() / 2 * 2;
    test::expect(rows.const_data_ptr<std::int64_t>()[0] == first &&
                     rows.const_data_ptr<std::int64_t>()[1] == first + 1,
                 "another row");
    const auto column = group.rank() % 2;
    test::expect(columns.const_data_ptr<std::int64_t>()[0] == column &&
                     columns.const_data_ptr<std::int64_t>()[1] == column + 2,
                 "another column");
  }));
}

}  // namespace
}  // namespace muster
