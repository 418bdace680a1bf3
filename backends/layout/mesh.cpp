#include <muster/communicators.hpp>
#include <muster/error.hpp>
#include <muster/mesh.hpp>

#include <set>

namespace muster {
namespace {

std::string names(const std::vector<MeshDimension>& dimensions) {
  std::string text;
  for (const auto& dimension : dimensions) {
    text += (text.empty() ? "" : ", ") + dimension.name + " of " + std::to_string(dimension.size);
  }
  return text;
}

void check(const std::vector<MeshDimension>& dimensions, int ranks) {
  std::set<std::string> seen;
  std::int64_t product = 1;
  for (const auto& dimension : dimensions) {
    if (dimension.name.empty() || !seen.insert(dimension.name).second) {
      throw ConfigError("mesh (" + names(dimensions) +
                        "): a dimension's name is empty or stands twice");
    }
    if (dimension.size < 1) {
      throw ConfigError("mesh (" + names(dimensions) + "): dimension '" + dimension.name +
                        "' has no ranks");
    }
    product *= dimension.size;
  }
  if (product != ranks) {
    throw ConfigError("mesh (" + names(dimensions) + ") has " + std::to_string(product) +
                      " places, the world has " + std::to_string(ranks) + " ranks");
  }
}

/// The ranks along dimension `index` through `rank`, in the order of their coordinate.
std::vector<int> line_through(int rank, const std::vector<MeshDimension>& dimensions,
                              std::size_t index) {
  int stride = 1;
  for (std::size_t i = index + 1; i < dimensions.size(); ++i) {
    stride *= dimensions[i].size;
  }
  const int size = dimensions[index].size;
  const int first = rank - (rank / stride % size) * stride;
  std::vector<int> ranks;
  for (int i = 0; i < size; ++i) {
    ranks.push_back(first + i * stride);
  }
  return ranks;
}

/// All ranks see the same sizes, so they take the same branch.
std::shared_ptr<Communicator> make_group(const std::shared_ptr<Communicator>& world,
                                         const std::vector<MeshDimension>& dimensions,
                                         std::size_t index) {
  const int size = dimensions[index].size;
  if (size == world->size()) {
    return world;
  }
  if (size == 1) {
    Endpoint alone;
    alone.device = world->device();
    alone.timeout = world->timeout();
    return connect("self", alone).communicator;
  }
  return world->subgroup(line_through(world->rank(), dimensions, index));
}

}  // namespace

Mesh::Mesh(std::shared_ptr<Communicator> world, std::vector<MeshDimension> dimensions)
    : world_(std::move(world)), dimensions_(std::move(dimensions)) {
  check(dimensions_, world_->size());
  for (std::size_t i = 0; i < dimensions_.size(); ++i) {
    groups_.push_back(make_group(world_, dimensions_, i));
  }
}

Mesh Mesh::data_parallel(std::shared_ptr<Communicator> world) {
  const int size = world->size();
  return Mesh(std::move(world), {{"data", size}});
}

std::size_t Mesh::find(std::string_view name) const {
  for (std::size_t i = 0; i < dimensions_.size(); ++i) {
    if (dimensions_[i].name == name) {
      return i;
    }
  }
  throw ConfigError("the mesh has no dimension '" + std::string(name) +
                    "'; it has: " + names(dimensions_));
}

std::shared_ptr<Communicator> Mesh::group(std::string_view name) const {
  return groups_[find(name)];
}

int Mesh::size(std::string_view name) const { return dimensions_[find(name)].size; }

int Mesh::coordinate(std::string_view name) const { return groups_[find(name)]->rank(); }

}  // namespace muster
