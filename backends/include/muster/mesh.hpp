#pragma once

#include <muster/communicator.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace muster {

/// A named dimension of the mesh, outermost first in a list.
struct MeshDimension {
  std::string name;
  int size = 1;
};

/// The ranks of a job as an array with named dimensions; the last one runs over neighbouring ranks.
/// What depends on data parallelism asks group("data"), never the world.
class Mesh {
 public:
  /// Collective if there is more than one dimension of size > 1. Throws ConfigError if the sizes do
  /// not multiply to the world's size or a name stands twice.
  Mesh(std::shared_ptr<Communicator> world, std::vector<MeshDimension> dimensions);

  /// One dimension "data" over all ranks.
  static Mesh data_parallel(std::shared_ptr<Communicator> world);

  Communicator& world() const noexcept { return *world_; }
  const std::vector<MeshDimension>& dimensions() const noexcept { return dimensions_; }
  /// The group of the ranks that differ from this one in that dimension only.
  /// Throws ConfigError naming the dimensions if there is none of that name.
  std::shared_ptr<Communicator> group(std::string_view name) const;
  int size(std::string_view name) const;
  int coordinate(std::string_view name) const;  ///< This rank's index in the dimension.

 private:
  std::size_t find(std::string_view name) const;
  std::shared_ptr<Communicator> world_;
  std::vector<MeshDimension> dimensions_;
  std::vector<std::shared_ptr<Communicator>> groups_;
};

}  // namespace muster
