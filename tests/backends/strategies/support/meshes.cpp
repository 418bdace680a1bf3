#include "meshes.hpp"

#include <muster/communicators.hpp>

#include "backends/ranks.hpp"

namespace muster::test {
namespace {

MeshPtr join(const Endpoint& endpoint) {
  auto connection = connect(endpoint.size == 1 ? "self" : "gloo", endpoint);
  return std::make_shared<Mesh>(Mesh::data_parallel(std::move(connection.communicator)));
}

}  // namespace

MeshPtr alone() { return join({}); }

void run_ranks(int size, const std::function<void(const MeshPtr& mesh)>& body) {
  on_ranks(size, std::chrono::seconds(30), [&](const Endpoint& endpoint) { body(join(endpoint)); });
}

}  // namespace muster::test
