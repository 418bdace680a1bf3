#pragma once

#include <muster/mesh.hpp>
#include <muster/strategy.hpp>

#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

namespace muster::test {

using MeshPtr = std::shared_ptr<Mesh>;

/// The mesh of a world of one.
MeshPtr alone();

/// Runs `body` once a rank, each in a thread with its own end of a gloo group (one rank: self).
/// Assertions belong after it, since Catch2's are for one thread. Throws Failed naming the ranks
/// that threw, with what they threw.
void run_ranks(int size, const std::function<void(const MeshPtr& mesh)>& body);

/// The same, giving what each rank returned.
template <class Body>
auto on_ranks(int size, const Body& body) {
  std::vector<std::invoke_result_t<Body, const MeshPtr&>> results(static_cast<std::size_t>(size));
  run_ranks(size, [&](const MeshPtr& mesh) {
    results[static_cast<std::size_t>(mesh->world().rank())] = body(mesh);
  });
  return results;
}

/// what() of the exception of type E that each rank's body throws; a rank that throws none fails
/// the run.
template <class E, class Body>
std::vector<std::string> errors_on_ranks(int size, const Body& body) {
  return on_ranks(size, [&](const MeshPtr& mesh) -> std::string {
    try {
      body(mesh);
    } catch (const E& error) {
      return error.what();
    }
    throw std::logic_error("no exception on rank " + std::to_string(mesh->world().rank()));
  });
}

}  // namespace muster::test
